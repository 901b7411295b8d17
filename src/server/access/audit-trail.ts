/**
 * Puts on record what callers did.
 *
 * 1. A look at a secret is on record before the secret leaves: if the record cannot be written, neither is the answer.
 * 2. A change is on record once it is made; one that failed changed nothing and is not. If the record cannot be written
 *    the change is answered all the same, and the server's log says so.
 * 3. A known caller who was refused is on record; strangers are not, because anybody could fill the record then.
 */
import type { FastifyRequest } from 'fastify'
import { parseId } from '../../contract/ids.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { parseJson, storableText } from '../../lib/exact-json.ts'
import type { AuditEntry, AuditOutcome } from '../../store/audit.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Database } from '../../store/database.ts'
import type { Instruments } from '../instruments.ts'
import type { Log } from '../log.ts'
import type { Audited, Facts } from './audited-routes.ts'
import { auditedOf } from './audited-routes.ts'
import type { Caller } from './caller.ts'

export interface AuditTrail {
  /** Called with every answer before it is sent. */
  record(request: FastifyRequest, status: number, payload: unknown): Promise<void>
}

/** Longer names are cut. */
const MAX_TEXT = 512

type Recorded = Instruments['recorded']

export const createAuditTrail = (database: () => Database, log: Log, recorded: Recorded): AuditTrail => ({
  record: async (request, status, payload) => {
    const { caller } = request
    const audited = caller && auditedOf(request)
    if (!audited) return
    const facts = factsOf(request, payload)
    const outcome = outcomeOf(status, facts.answer)
    const isLook = audited.isLook === true
    if (!isLook && outcome !== 'success' && outcome !== 'denied') return
    const entry = entryOf(request, caller, audited, facts, outcome)
    try {
      await insertAudit(database(), entry)
      recorded(entry.action, outcome, true)
    } catch (error) {
      recorded(entry.action, outcome, false)
      if (isLook && outcome === 'success') throw error
      log.error(
        { error, action: entry.action, target: entry.target, actor: entry.actor },
        'not put on record',
      )
    }
  },
})

const entryOf = (
  request: FastifyRequest,
  caller: Caller,
  audited: Audited,
  facts: Facts,
  outcome: AuditOutcome,
): AuditEntry => {
  const { params, query, body } = facts
  const idOf = (name: string): string | null => parseId(params[name] ?? query[name] ?? body[name])
  return {
    actor: caller.name,
    role: caller.role,
    tokenId: caller.tokenId,
    action: audited.action,
    target: textOf(audited.target?.(facts)),
    outcome,
    address: request.ip,
    workerId: textOf((query['worker_id'] ?? body['worker_id']) as Json | undefined),
    executionId: idOf('execution_id'),
    parentExecutionId: idOf('parent_execution_id'),
    details: outcome === 'success' ? (audited.details?.(facts) ?? {}) : {},
  }
}

const factsOf = ({ params, query, body }: FastifyRequest, payload: unknown): Facts => ({
  params: params as Facts['params'],
  query: query as Facts['query'],
  body: isObject(body) ? body : {},
  answer: answerOf(payload),
})

const answerOf = (payload: unknown): JsonObject => {
  if (typeof payload !== 'string') return {}
  try {
    const answer = parseJson(payload)
    return isObject(answer) ? answer : {}
  } catch {
    // Not JSON: nothing to take from it.
    return {}
  }
}

const outcomeOf = (status: number, answer: JsonObject): AuditOutcome => {
  if (status === 401 || status === 403) return 'denied'
  if (status === 404 || (status < 400 && answer['status'] === 'not_found')) return 'not_found'
  return status < 400 ? 'success' : 'error'
}

const textOf = (value: Json | undefined): string | null => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? storableText(value).slice(0, MAX_TEXT) : null
}
