/**
 * Reads what workers report. Several generations of workers put the same facts at different places of the
 * result envelope; this file knows the places, the rest of the engine knows only outcome, data and error.
 */
import type { ToolError } from '../contract/command.ts'
import type { EventResult } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'

export interface Outcome {
  readonly ok: boolean
  /** Undefined when the event brings no data. */
  readonly data: Json | undefined
  readonly error: ToolError | null
}

const ERROR_WORDS = new Set(['error', 'failed', 'failure', 'timeout', 'cancelled', 'canceled'])

const isErrorStatus = (status: unknown): boolean =>
  typeof status === 'string' && ERROR_WORDS.has(status.trim().toLowerCase())

/** The command an event speaks of, if it says so. */
export const commandIdOf = (meta: JsonObject, context: JsonObject | undefined): string | null => {
  const data = context?.['data']
  const id =
    context?.['command_id'] ?? meta['command_id'] ?? (isObject(data) ? data['command_id'] : undefined)
  return typeof id === 'string' || typeof id === 'number' ? String(id) : null
}

export const completedOutcome = (result: EventResult | null, status: string | null): Outcome => {
  const context = result?.context ?? {}
  const inner = isObject(context['result']) ? context['result'] : null
  const word = inner?.['status'] ?? context['status'] ?? status
  const ok = !isErrorStatus(word)
  return {
    ok,
    data: reportedData(context),
    error: ok ? null : reportedError(context, typeof word === 'string' ? word : 'error'),
  }
}

export const failedOutcome = (result: EventResult | null, error: string | null): Outcome => {
  const context = result?.context ?? {}
  return { ok: false, data: reportedData(context), error: reportedError(context, error ?? 'command failed') }
}

/** call.done: everything in the context that is not bookkeeping is data when no better place has it. */
export const callOutcome = (result: EventResult | null, status: string | null): Outcome => {
  const outcome = completedOutcome(result, status)
  if (outcome.data !== undefined || !result?.context) return outcome
  const { command_id: _id, call_index: _index, status: _status, ...rest } = result.context
  return Object.keys(rest).length === 0 ? outcome : { ...outcome, data: rest }
}

/** The user data of a report, wherever it is; undefined when there is none. */
export const reportedData = (context: JsonObject): Json | undefined => {
  const holder = context['result'] ?? context['response']
  if (isObject(holder)) {
    const inner = holder['context']
    if (isObject(inner)) return 'data' in inner ? inner['data'] : undefined
    return 'data' in holder ? holder['data'] : holder
  }
  if (holder !== undefined) return holder
  return context['data']
}

const reportedError = (context: JsonObject, fallback: string): ToolError => {
  const holder = context['result']
  const inner = isObject(holder) && isObject(holder['context']) ? holder['context'] : null
  const raw = inner?.['error'] ?? context['error']
  if (isObject(raw)) return toToolError(raw, fallback)
  const message = typeof raw === 'string' && raw !== '' ? raw : fallback
  return { kind: 'unknown', code: 'UNKNOWN', message, retryable: false }
}

const toToolError = (raw: JsonObject, fallback: string): ToolError => ({
  ...raw,
  kind: typeof raw['kind'] === 'string' ? raw['kind'] : 'unknown',
  code: typeof raw['code'] === 'string' || typeof raw['code'] === 'number' ? String(raw['code']) : 'UNKNOWN',
  message: typeof raw['message'] === 'string' ? raw['message'] : fallback,
  retryable: raw['retryable'] === true,
})
