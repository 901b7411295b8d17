/**
 * An execution's events as the step runs people follow.
 *
 * 1. A step run is one entry of a step: a step on a cycle has several, told apart by number. A run after a skip takes its
 *    number.
 * 2. Runs that are open when the execution ends are `stopped`.
 * 3. An execution that is opened again begins anew: earlier runs only count.
 * 4. A loop that goes on, after a retry or in a rerun, has no entry of its own: it begins with its first command.
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
  /** How long the execution took since it was last opened, by the server's clock; 0 until it is over. */
  durationMs(): number
  /** Reads the next event; answers what it changed. */
  apply(event: ExecutionEvent): Change
  /** The runs that are open when the execution is over. */
  stop(): readonly StepRun[]
}

export const createRunProgress = (): RunProgress => {
  const runs: StepRun[] = []
  const open = new Map<string, StepRun>()
  /** By step, the run that began last. */
  const latest = new Map<string, StepRun>()
  let result: Json | undefined
  let startedAt = 0
  let durationMs = 0

  const begin = (event: ExecutionEvent): StepRun => {
    const step = event.node_name ?? ''
    const before = latest.get(step)
    const takesPlace = before?.status === 'skipped' && event.event_type !== EVENT.stepSkipped
    const run = beginRun(event, (before?.run ?? 0) + (takesPlace ? 0 : 1))
    latest.set(step, run)
    runs.push(run)
    return run
  }

  const enter = (event: ExecutionEvent): Change => {
    const run = begin(event)
    open.set(run.step, run)
    return { type: 'entered', run }
  }

  const goOn = (event: ExecutionEvent): Change => {
    const loop = latest.get(event.node_name ?? '')?.loop
    const run = begin(event)
    if (loop) run.loop = { total: loop.total, done: loop.done - loop.failed, failed: 0 }
    open.set(run.step, run)
    changeRun(run, event)
    return { type: 'entered', run }
  }

  const change = (event: ExecutionEvent): Change => {
    const run = open.get(event.node_name ?? '')
    if (!run) return event.event_type === EVENT.commandIssued ? goOn(event) : NOTHING
    const made = changeRun(run, event)
    if (made.type === 'ended') open.delete(made.run.step)
    return made
  }

  const reopen = (event: ExecutionEvent): Change => {
    startedAt = Date.parse(event.created_at)
    durationMs = 0
    result = undefined
    runs.length = 0
    open.clear()
    return NOTHING
  }

  return {
    runs,
    result: () => result,
    durationMs: () => durationMs,
    apply: (event) => {
      if (event.event_type === EVENT.started) startedAt = Date.parse(event.created_at)
      if (event.event_type === EVENT.reopened) return reopen(event)
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
