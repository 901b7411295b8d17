/** Events as the server sends them, with everything but the essential filled in. */
import type { ExecutionEvent } from '../../client/answers.ts'
import type { JsonObject } from '../../contract/json.ts'

export interface EventFacts {
  readonly at?: number
  readonly status?: string
  readonly context?: JsonObject
  readonly meta?: JsonObject
  readonly tool?: string
  readonly error?: string
}

export const event = (type: string, step: string, facts: EventFacts = {}): ExecutionEvent => ({
  event_id: '1',
  position: 1,
  event_type: type,
  node_name: step,
  node_type: facts.tool ?? null,
  status: facts.status ?? 'COMPLETED',
  created_at: new Date(facts.at ?? 0).toISOString(),
  worker_id: null,
  duration_ms: null,
  context: null,
  result: { status: facts.status ?? 'COMPLETED', context: facts.context ?? {} },
  meta: facts.meta ?? {},
  error: facts.error ?? null,
})

/** The end of a command. */
export const completed = (step: string, inner: JsonObject = {}): ExecutionEvent =>
  event('command.completed', step, { context: { result: { status: 'success', context: inner } } })

export const failed = (step: string, error: JsonObject): ExecutionEvent =>
  event('command.failed', step, {
    status: 'FAILED',
    context: { result: { status: 'error', context: { error } }, error },
  })
