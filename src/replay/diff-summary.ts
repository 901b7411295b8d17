/**
 * A log as a comparison reads it: what went in, which step runs there were, what each came to, how it ended.
 *
 * 1. It reads the log once, event by event, and keeps per step run what can be compared.
 * 2. What differs in any two executions is made equal: the execution's own id, and the places of stored results.
 * 3. Runs are numbered as in the execution they are kept from. A run that begins where a step had been given up takes
 *    its place: after a skip, and in a rerun for what is not kept but run again.
 * 4. A loop that a retry goes on with has a further run; one that a rerun goes on with is the run it was.
 */
import type { EventRecord } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'

/** `stopped`: the end of the execution came before its own. */
export type RunWord =
  | 'running'
  | 'stopped'
  | 'completed'
  | 'failed'
  | 'handled'
  | 'skipped'
  | 'bypassed'
  | 'kept'

export interface StepRunSummary {
  readonly step: string
  /** Counts the runs of the step from 1; skips count, too. */
  readonly run: number
  readonly position: number
  readonly enteredAt: string
  leftAt: string | null
  word: RunWord
  /** Why it was skipped. */
  reason: string | null
  input: Json | undefined
  data: Json | undefined
  error: string | null
  next: readonly string[]
  commands: number
  /** Leases that were lost. */
  released: number
}

export interface LogSummary {
  readonly executionId: string
  readonly catalogId: string | null
  readonly path: string | null
  readonly version: number | null
  readonly originId: string | null
  readonly workload: Json
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly status: string
  readonly error: string | null
  readonly result: Json | undefined
  readonly reopened: number
  /** By step, the number of the run that was kept. */
  readonly kept: ReadonlyMap<string, number>
  readonly runs: readonly StepRunSummary[]
}

export interface LogReader {
  add(event: EventRecord): void
  summary(): LogSummary
}

export const createLogReader = (executionId: string): LogReader => {
  const runs: StepRunSummary[] = []
  const latest = new Map<string, StepRunSummary>()
  const kept = new Map<string, number>()
  const iterationOf = new Map<string, number>()
  let head: EventRecord | null = null
  let end: EventRecord | null = null
  let reopened = 0
  const same = (value: Json | undefined): Json | undefined =>
    value === undefined ? undefined : withoutIdentity(value, executionId)

  const begin = (event: EventRecord, word: RunWord, step = event.nodeName ?? ''): StepRunSummary => {
    const before = latest.get(step)
    const isUndone = before?.word === 'skipped' && word !== 'skipped'
    if (isUndone) runs.splice(runs.indexOf(before), 1)
    const run: StepRunSummary = {
      step,
      run: isUndone ? before.run : (before?.run ?? (kept.get(step) ?? 1) - 1) + 1,
      position: event.position,
      enteredAt: event.createdAt,
      leftAt: word === 'running' ? null : event.createdAt,
      word,
      reason: null,
      input: undefined,
      data: undefined,
      error: null,
      next: [],
      commands: 0,
      released: 0,
    }
    runs.push(run)
    latest.set(step, run)
    return run
  }

  const readControl = (event: EventRecord, type: string): void => {
    const context = event.result?.context ?? {}
    if (type === EVENT.stepEnter) {
      const run = begin(event, 'running')
      if (Array.isArray(context['items'])) {
        run.input = same({ items: context['items'] })
        run.data = []
      }
    } else if (type === EVENT.stepSkipped) {
      const run = begin(event, context['reason'] === 'guard' ? 'bypassed' : 'skipped')
      run.reason = textOf(context['reason'])
    } else if (type === EVENT.stepKept) {
      keep(event, context)
    } else if (type === EVENT.reopened) {
      reopened += 1
      end = null
      for (const name of textsOf(event.meta['steps'])) goOn(event, name)
    }
    const run = latest.get(event.nodeName ?? '')
    if (!run) return
    if (type === EVENT.stepExit) leave(run, event, context)
    if (type === EVENT.commandReleased) run.released += 1
    if (type === EVENT.commandIssued) issue(run, event)
  }

  const keep = (event: EventRecord, context: JsonObject): void => {
    const step = event.nodeName ?? ''
    if (typeof context['run'] === 'number' && context['run'] > 0) kept.set(step, context['run'])
    const data = same(context['data'])
    if (isObject(context['loop'])) {
      const { items, results } = context['loop']
      const run = begin(event, 'running')
      run.input = same({ items: items ?? [] })
      run.data = Array.isArray(results) ? [...(same(results) as Json[])] : []
    } else if (context['outcome'] === 'skipped') begin(event, 'skipped').reason = KEPT
    else if (context['outcome'] !== null)
      begin(event, 'kept').data = context['looped'] === true && isObject(data) ? data['results'] : data
  }

  /** A loop is not entered again by a retry. */
  const goOn = (event: EventRecord, step: string): void => {
    const before = latest.get(step)
    if (!before || !Array.isArray(before.data)) return
    const run = begin(event, 'running', step)
    run.input = before.input
    run.data = [...before.data]
  }

  const issue = (run: StepRunSummary, event: EventRecord): void => {
    run.commands += 1
    const index = event.meta['iteration_index']
    const commandId = textOf(event.meta['command_id'])
    if (commandId !== null && typeof index === 'number') iterationOf.set(commandId, index)
    else if (isObject(event.context)) {
      const { tool_config: tool, args } = event.context
      run.input = same({ tool: tool ?? null, args: args ?? null })
    }
  }

  const endCommand = (event: EventRecord): void => {
    const run = latest.get(event.nodeName ?? '')
    const context = event.result?.context ?? {}
    if (!run || context['pending_callback'] === true) return
    const data = same(dataOf(context))
    const index = iterationOf.get(textOf(event.meta['command_id']) ?? textOf(context['command_id']) ?? '')
    if (index === undefined) run.data = data ?? run.data
    else if (Array.isArray(run.data)) (run.data as Json[])[index] = data ?? null
    if (event.error !== null) run.error = event.error
  }

  return {
    add: (event) => {
      const type = canonicalEventType(event.eventType)
      if (type === EVENT.started) head ??= event
      else if (terminalStatusOf(event.eventType) !== null) end ??= event
      else if (event.meta['emitted_by'] === 'orchestrator' && CONTROL.has(type)) readControl(event, type)
      else if (ENDING.has(type)) endCommand(event)
    },
    summary: () => {
      for (const run of runs)
        if (run.word === 'running' && (end !== null || latest.get(run.step) !== run)) run.word = 'stopped'
      return { executionId, ...headOf(head, same), ...endOf(end, same), reopened, kept, runs }
    },
  }
}

const CONTROL: ReadonlySet<string> = new Set([
  EVENT.stepEnter,
  EVENT.stepExit,
  EVENT.stepSkipped,
  EVENT.stepKept,
  EVENT.reopened,
  EVENT.commandIssued,
  EVENT.commandReleased,
])
const ENDING: ReadonlySet<string> = new Set([
  EVENT.commandCompleted,
  EVENT.commandFailed,
  EVENT.commandCancelled,
  EVENT.callDone,
  EVENT.callError,
])

const leave = (run: StepRunSummary, event: EventRecord, context: JsonObject): void => {
  const failed = event.result?.status === 'FAILED'
  if (run.word === 'running')
    run.word = failed ? (context['handled'] === true ? 'handled' : 'failed') : 'completed'
  run.leftAt = event.createdAt
  run.next = textsOf(context['next'])
  run.error = event.error ?? (failed ? run.error : null)
}

type Same = (value: Json | undefined) => Json | undefined

const headOf = (head: EventRecord | null, same: Same) => {
  const context = isObject(head?.context) ? head.context : {}
  const origin = head?.meta['origin']
  return {
    catalogId: textOf(context['catalog_id']),
    path: textOf(context['path']) ?? head?.nodeName ?? null,
    version: typeof head?.meta['version'] === 'number' ? head.meta['version'] : null,
    originId: isObject(origin) ? textOf(origin['execution_id']) : null,
    workload: same(context['workload']) ?? null,
    startedAt: head?.createdAt ?? null,
  }
}

const endOf = (end: EventRecord | null, same: Same) => ({
  endedAt: end?.createdAt ?? null,
  status: end ? (terminalStatusOf(end.eventType) ?? 'RUNNING') : 'RUNNING',
  error: end?.error ?? null,
  result: same(end?.result?.context?.['data']),
})

/** The data of a report, wherever its worker put it. */
const dataOf = (context: JsonObject): Json | undefined => {
  const holder = context['result'] ?? context['response']
  if (!isObject(holder)) return holder ?? context['data']
  const inner = holder['context']
  if (isObject(inner)) return Object.hasOwn(inner, 'data') ? inner['data'] : undefined
  return Object.hasOwn(holder, 'data') ? holder['data'] : holder
}

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []

/** Why a step is skipped in a rerun that took that over. */
export const KEPT = 'kept'

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)

const OWN_ID = '{execution_id}'

const withoutIdentity = (value: Json, executionId: string): Json => {
  if (typeof value === 'string')
    return value.includes(executionId) ? value.replaceAll(executionId, OWN_ID) : value
  if (Array.isArray(value)) return value.map((item: Json) => withoutIdentity(item, executionId))
  if (!isObject(value)) return value
  const isMarker = typeof value['_ref'] === 'string' && typeof value['_store'] === 'string'
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(isMarker && key === '_ref'))
      .map(([key, item]) => [key, withoutIdentity(item, executionId)]),
  )
}
