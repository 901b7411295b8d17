/**
 * One run of a step, and what the events about it change.
 *
 * 1. It is over with its step.exit; its failure is the first one its commands reported.
 */
import type { ExecutionEvent } from '../client/answers.ts'
import { EVENT } from '../contract/event.ts'
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
  /** What it printed on stderr. */
  errorOutput: string
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

export const NOTHING: Change = { type: 'none' }

/** From step.enter or step.skipped. */
export const beginRun = (event: ExecutionEvent, run: number): StepRun => {
  const context = contextOf(event)
  const expected = context['iterations_expected']
  return {
    step: event.node_name ?? '',
    run,
    startedAt: Date.parse(event.created_at),
    status: event.event_type === EVENT.stepSkipped ? 'skipped' : 'running',
    tool: null,
    durationMs: null,
    loop: typeof expected === 'number' ? { total: expected, done: 0, failed: 0 } : null,
    error: null,
    output: '',
    errorOutput: '',
    reason: textOf(context['reason']),
    next: [],
  }
}

/** Reads an event about a run that is under way. */
export const changeRun = (run: StepRun, event: ExecutionEvent): Change => {
  switch (event.event_type) {
    case EVENT.commandIssued:
      run.tool ??= event.node_type === 'task_sequence' ? 'pipeline' : event.node_type
      return NOTHING
    case EVENT.commandReleased:
      return releaseCommand(run, event)
    case EVENT.commandCompleted:
    case EVENT.commandFailed:
      return endCommand(run, event)
    case EVENT.stepExit:
      return endRun(run, event)
    default:
      return NOTHING
  }
}

const releaseCommand = (run: StepRun, { meta }: ExecutionEvent): Change => {
  const attempt = typeof meta['attempt'] === 'number' ? meta['attempt'] : 1
  return { type: 'waits-again', run, reason: textOf(meta['reason']) ?? '', attempt }
}

const endCommand = (run: StepRun, event: ExecutionEvent): Change => {
  const context = contextOf(event)
  // The worker is done, the work goes on elsewhere; its end comes with another event.
  if (context['pending_callback'] === true) return NOTHING
  const report = isObject(context['result']) ? context['result'] : {}
  const inner = isObject(report['context']) ? report['context'] : {}
  const failed = event.event_type === EVENT.commandFailed || report['status'] === 'error'
  if (failed) run.error ??= errorOf(inner['error'] ?? context['error'] ?? null, event.error)
  if (!run.loop) {
    run.output = textOf(inner['stdout']) ?? ''
    run.errorOutput = textOf(inner['stderr']) ?? ''
    return NOTHING
  }
  run.loop.done += 1
  if (failed) run.loop.failed += 1
  return { type: 'progressed', run }
}

const endRun = (run: StepRun, event: ExecutionEvent): Change => {
  const context = contextOf(event)
  run.durationMs = Date.parse(event.created_at) - run.startedAt
  run.next = Array.isArray(context['next']) ? context['next'].map(String) : []
  if (event.status === 'FAILED') {
    run.status = context['handled'] === true ? 'handled' : 'failed'
    run.error ??= errorOf(null, event.error)
  } else {
    run.status = 'completed'
  }
  return { type: 'ended', run }
}

const errorOf = (value: Json, fallback: string | null): StepError => {
  const error: JsonObject = isObject(value) ? value : { message: value }
  return {
    message: textOf(error['message']) ?? fallback ?? 'failed',
    code: textOf(error['code']),
    traceback: textOf(error['traceback']),
  }
}

export const contextOf = (event: ExecutionEvent): JsonObject => event.result?.context ?? {}

const textOf = (value: Json | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null
