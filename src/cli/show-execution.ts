/** Follows an execution to its end and prints each step as it happens. */
import type { ExecutionEnd } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import { createRunLines } from './run-lines.ts'
import { READING_ON } from './failure.ts'
import type { RunProgress } from './run-progress.ts'
import { createRunProgress } from './run-progress.ts'
import type { StepRun } from './step-run.ts'
import type { Terminal } from './terminal.ts'

export interface ShowOptions {
  readonly client: Pick<Client, 'follow'>
  readonly executionId: string
  readonly terminal: Terminal
  readonly stepNames: readonly string[]
  /** Events up to this position are old: they are read and not shown. */
  readonly after?: number
  /** Says nothing, only follows. */
  readonly quiet?: boolean
  readonly signal?: AbortSignal
}

export interface Shown {
  readonly end: ExecutionEnd
  readonly progress: RunProgress
}

const FRAME_MS = 100

export const showExecution = async ({
  client,
  executionId,
  terminal,
  stepNames,
  after = 0,
  quiet = false,
  signal,
}: ShowOptions): Promise<Shown> => {
  const progress = createRunProgress()
  const lines = createRunLines(terminal, stepNames)
  const running = new Set<StepRun>()
  let frame = 0
  const draw = (): void => {
    if (!quiet) terminal.live(running.size === 0 ? null : lines.live([...running], Date.now(), frame))
  }
  const print = (text: readonly string[]): void => {
    if (!quiet) terminal.out(text.join('\n'))
  }
  const timer = setInterval(() => {
    frame += 1
    draw()
  }, FRAME_MS)
  const onBreak = (): void => {
    if (!quiet) terminal.err(terminal.errorStyle.dim(READING_ON))
  }
  try {
    for await (const followed of client.follow(executionId, { signal, onBreak })) {
      if (followed.type === 'end') {
        running.clear()
        draw()
        for (const run of progress.stop()) print(lines.step(run))
        return { end: followed.end, progress }
      }
      const change = progress.apply(followed.event)
      if (followed.event.position <= after) continue
      if (change.type === 'entered') running.add(change.run)
      if (change.type === 'ended') {
        running.delete(change.run)
        draw()
        print(lines.step(change.run))
      }
      if (change.type === 'waits-again') print([lines.waitsAgain(change.run, change.reason, change.attempt)])
    }
    throw new Error(`the stream of execution ${executionId} stopped before its end`)
  } finally {
    clearInterval(timer)
    terminal.live(null)
  }
}
