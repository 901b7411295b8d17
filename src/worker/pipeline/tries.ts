/**
 * The runs of tasks that were followed by another try, for the log: a result that came at the third try says so.
 *
 * 1. Only runs that were repeated are kept, the newest twenty of them; how many there were in all is told as well.
 * 2. What is told of an error is its kind, its code and the beginning of its message.
 */
import type { Try } from '../../contract/command.ts'
import type { ToolResult } from '../tool.ts'
import { errorOf, type TaskRun } from './output-envelope.ts'

const MOST_KEPT = 20
const MOST_CHARACTERS = 500

export interface Tries {
  add(run: TaskRun, waitMs: number): void
  /** Nothing when no run was repeated. */
  told(): Pick<ToolResult, 'tries'>
}

export const createTries = (): Tries => {
  const kept: Try[] = []
  let count = 0
  return {
    add(run, waitMs) {
      const error = errorOf(run)
      count += 1
      kept.push({
        task: run.label,
        attempt: run.attempt,
        duration_ms: run.durationMs,
        wait_ms: waitMs,
        ...(error === null
          ? {}
          : {
              error: {
                kind: error.kind,
                code: error.code,
                message: error.message.slice(0, MOST_CHARACTERS).toWellFormed(),
              },
            }),
      })
      if (kept.length > MOST_KEPT) kept.shift()
    },
    told: () => (count === 0 ? {} : { tries: { count, runs: kept } }),
  }
}
