/**
 * An execution's events as the steps people follow.
 *
 * 1. A step run is one entry of a step: a step on a cycle has several, told apart by number.
 * 2. A run is over with its step.exit; its failure is the first one its commands reported.
 * 3. Runs that were open when the execution ended are `stopped`.
 */
import type { ExecutionEvent } from '../client/answers.ts'
import { EVENT, terminalStatusOf } from '../contract/event.ts'
import { isObject } from '../contract/json.ts'
import type { Json, JsonObject } from '../contract/json.ts'

export type StepStatus = 'running' | 'completed' | 'failed' | 'handled' | 'skipped' | 'stopped'

export interface StepRun {
  readonly step: string
  /** Counted from 1. */
  readonly run: number
  /** Milliseconds since 1970, by the server's clock. */
  readonly startedAt: number
  status: StepStatus
  /** Null for a step without a tool. */
  tool: string | null
  durationMs: number | null
  /** Null outside loops. */
  loop: { readonly total: number; done: number; failed: number } | null
  error: StepError | null
  /** What the tool printed, outside loops. */
  output: string
  /** Why a skipped step did not run: `guard`, `dead_path`, `upstream_failed`. */
  reason: string | null
  /** Where it led. */
  next: readonly string[]
}

export interface StepError {
  readonly message: string
  readonly code: string | null
  readonly traceback: string | null
}

export type Change =
  | { readonly type: 'entered' | 'progressed' | 'ended'; readonly run: StepRun }
  | { readonly type: 'waits-again'; readonly run: StepRun; readonly reason: string; readonly attempt: number }
  | { readonly type: 'none' }

export interface RunProgress {
  readonly runs: readonly StepRun[]
  /** The execution's result; undefined until it has one. */
  result(): Json | undefined
  startedAt(): number | null
  /** Reads the next event; answers what it changed. */
  apply(event: ExecutionEvent): Change
  /** The runs that are open when the execution is over. */
  stop(): readonly StepRun[]
}

const NOTHING: Change = { type: 'none' }

export const createRunProgress = (): RunProgress => {
  const runs: StepRun[] = []
  const open = new Map<string, StepRun>()
  const counts = new Map<string, number>()
  let result: Json | undefined
  let startedAt: number | null = null

  const begin = (event: ExecutionEvent, status: StepStatus): StepRun => {
    const step = event.node_name ?? ''
    const number = (counts.get(step) ?? 0) + 1
    counts.set(step, number)
    const run = newRun(event, step, number, status)
    runs.push(run)
    return run
  }

  const ofOpenRun = (event: ExecutionEvent, change: (run: StepRun) => Change): Change => {
    const run = open.get(event.node_name ?? '')
    return run ? change(run) : NOTHING
  }

  const readers: Readonly<Record<string, (event: ExecutionEvent) => Change>> = {
    [EVENT.started]: (event) => {
      startedAt = Date.parse(event.created_at)
      return NOTHING
    },
    [EVENT.stepEnter]: (event) => {
      const run = begin(event, 'running')
      open.set(run.step, run)
      return { type: 'entered', run }
    },
    [EVENT.stepSkipped]: (event) => {
      const run = begin(event, 'skipped')
      run.reason = textOf(contextOf(event)['reason'])
      return { type: 'ended', run }
    },
    [EVENT.commandIssued]: (event) =>
      ofOpenRun(event, (run) => {
        run.tool ??= toolName(event)
        return NOTHING
      }),
    [EVENT.commandReleased]: (event) =>
      ofOpenRun(event, (run) => {
        const attempt = event.meta['attempt']
        return { type: 'waits-again', run, reason: textOf(event.meta['reason']) ?? '', attempt: typeof attempt === 'number' ? attempt : 1 }
      }),
    [EVENT.commandCompleted]: (event) => ofOpenRun(event, (run) => endCommand(run, event)),
    [EVENT.commandFailed]: (event) => ofOpenRun(event, (run) => endCommand(run, event)),
    [EVENT.stepExit]: (event) =>
      ofOpenRun(event, (run) => {
        open.delete(run.step)
        endRun(run, event)
        return { type: 'ended', run }
      }),
  }

  return {
    runs,
    result: () => result,
    startedAt: () => startedAt,
    apply: (event) => {
      if (terminalStatusOf(event.event_type) !== null) {
        result = contextOf(event)['data']
        return NOTHING
      }
      return readers[event.event_type]?.(event) ?? NOTHING
    },
    stop: () => {
      const stopped = [...open.values()]
      for (const run of stopped) run.status = 'stopped'
      open.clear()
      return stopped
    },
  }
}

const newRun = (event: ExecutionEvent, step: string, run: number, status: StepStatus): StepRun => {
  const expected = contextOf(event)['iterations_expected']
  return {
    step,
    run,
    startedAt: Date.parse(event.created_at),
    status,
    tool: null,
    durationMs: null,
    loop: typeof expected === 'number' ? { total: expected, done: 0, failed: 0 } : null,
    error: null,
    output: '',
    reason: null,
    next: [],
  }
}

const endCommand = (run: StepRun, event: ExecutionEvent): Change => {
  const context = contextOf(event)
  const report = isObject(context['result']) ? context['result'] : {}
  const inner = isObject(report['context']) ? report['context'] : {}
  const failed = event.event_type === EVENT.commandFailed || report['status'] === 'error'
  if (failed) run.error ??= errorOf(inner['error'] ?? context['error'] ?? null, event.error)
  if (!run.loop) {
    run.output = textOf(inner['stdout']) ?? ''
    return NOTHING
  }
  run.loop.done += 1
  if (failed) run.loop.failed += 1
  return { type: 'progressed', run }
}

const endRun = (run: StepRun, event: ExecutionEvent): void => {
  const context = contextOf(event)
  run.durationMs = Date.parse(event.created_at) - run.startedAt
  run.next = Array.isArray(context['next']) ? context['next'].map(String) : []
  if (event.status !== 'FAILED') {
    run.status = 'completed'
    return
  }
  run.status = context['handled'] === true ? 'handled' : 'failed'
  run.error ??= errorOf(null, event.error)
}

const errorOf = (value: Json, fallback: string | null): StepError => {
  if (!isObject(value)) return { message: textOf(value) ?? fallback ?? 'failed', code: null, traceback: null }
  return {
    message: textOf(value['message']) ?? fallback ?? 'failed',
    code: textOf(value['code']),
    traceback: textOf(value['traceback']),
  }
}

const toolName = (event: ExecutionEvent): string | null => (event.node_type === 'task_sequence' ? 'pipeline' : event.node_type)

const contextOf = (event: ExecutionEvent): JsonObject => event.result?.context ?? {}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)
