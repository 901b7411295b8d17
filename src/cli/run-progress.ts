/**
 * An execution's events as the step runs people follow.
 *
 * 1. A step run is one entry of a step: a step on a cycle has several, told apart by number.
 * 2. Runs that are open when the execution ends are `stopped`.
 */
import type { ExecutionEvent } from '../client/answers.ts'
import { EVENT, terminalStatusOf } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import type { Change, StepRun } from './step-run.ts'
import { beginRun, changeRun, contextOf, NOTHING } from './step-run.ts'

export interface RunProgress {
  readonly runs: readonly StepRun[]
  /** The execution's result; undefined until it has one. */
  result(): Json | undefined
  /** How long the execution took, by the server's clock; 0 until it is over. */
  durationMs(): number
  /** Reads the next event; answers what it changed. */
  apply(event: ExecutionEvent): Change
  /** The runs that are open when the execution is over. */
  stop(): readonly StepRun[]
}

export const createRunProgress = (): RunProgress => {
  const runs: StepRun[] = []
  const open = new Map<string, StepRun>()
  const counts = new Map<string, number>()
  let result: Json | undefined
  let startedAt = 0
  let durationMs = 0

  const begin = (event: ExecutionEvent): StepRun => {
    const step = event.node_name ?? ''
    const number = (counts.get(step) ?? 0) + 1
    counts.set(step, number)
    const run = beginRun(event, number)
    runs.push(run)
    return run
  }

  const enter = (event: ExecutionEvent): Change => {
    const run = begin(event)
    open.set(run.step, run)
    return { type: 'entered', run }
  }

  const change = (event: ExecutionEvent): Change => {
    const run = open.get(event.node_name ?? '')
    const made = run ? changeRun(run, event) : NOTHING
    if (made.type === 'ended') open.delete(made.run.step)
    return made
  }

  return {
    runs,
    result: () => result,
    durationMs: () => durationMs,
    apply: (event) => {
      if (event.event_type === EVENT.started) startedAt = Date.parse(event.created_at)
      if (event.event_type === EVENT.stepEnter) return enter(event)
      if (event.event_type === EVENT.stepSkipped) return { type: 'ended', run: begin(event) }
      if (terminalStatusOf(event.event_type) === null) return change(event)
      result = contextOf(event)['data']
      durationMs = Date.parse(event.created_at) - startedAt
      return NOTHING
    },
    stop: () => {
      const stopped = [...open.values()]
      for (const run of stopped) run.status = 'stopped'
      open.clear()
      return stopped
    },
  }
}
