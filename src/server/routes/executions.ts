import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { CancelRequest, FinalizeRequest } from '../../contract/api.ts'
import type { EventRecord } from '../../contract/event.ts'
import { idSchema } from '../../contract/ids.ts'
import { isObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { redact } from '../../contract/sensitive.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { readEvents, readNewestEvents } from '../../store/events.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { listExecutions, readExecution } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import { cancelExecution } from '../cancel.ts'
import { check, goneSignal, pathId } from '../http.ts'
import { outcomeOf, untilEnded } from '../outcome.ts'
import { maySeeSecrets } from '../secret-access.ts'

const MAX_LISTED = 100
const NEWEST_EVENTS = 2000
/** As far as positions count. */
const MAX_POSITION = 2 ** 31 - 1

const ListQuery = z.object({
  status: z
    .string()
    .transform((status) => status.toUpperCase())
    .pipe(z.enum(['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']))
    .optional(),
  catalog_id: idSchema('catalog_id').optional(),
  parent_execution_id: idSchema('parent_execution_id').optional(),
  path: z.string().optional(),
  limit: z.coerce.number().int().min(0).default(50),
  offset: z.coerce.number().int().min(0).default(0),
})

const ResultQuery = z.object({
  step: z.string().optional(),
  include_secrets: z.enum(['true', 'false']).optional(),
  wait_ms: z.coerce.number().int().min(0).max(60_000).default(0),
})

const EventsQuery = z.object({
  after: z.coerce.number().int().min(0).max(MAX_POSITION).default(0),
  limit: z.coerce.number().int().min(1).max(5000).default(500),
})

export const executionRoutes = (app: FastifyInstance, { core, closing }: ServerContext): void => {
  const { shards } = core

  const rowOf = async (request: FastifyRequest): Promise<ExecutionRow> => {
    const id = pathId(request, 'execution_id')
    const row = await readExecution(shards.of(id), id)
    if (!row) throw new ProblemError('not_found', `Execution not found: ${id}`)
    return row
  }

  app.get('/api/executions', async (request) => {
    const query = check(ListQuery, request.query)
    const limit = Math.min(query.limit, MAX_LISTED)
    const filter = {
      status: query.status ?? null,
      catalogId: query.catalog_id ?? null,
      parentExecutionId: query.parent_execution_id ?? null,
      path: query.path ?? null,
      // Every shard may hold the whole page.
      limit: limit + query.offset,
      offset: 0,
    }
    const pages = await Promise.all(shards.all.map((database) => listExecutions(database, filter)))
    const rows = pages.flat().sort((a, b) => (BigInt(a.execution_id) < BigInt(b.execution_id) ? 1 : -1))
    return rows.slice(query.offset, query.offset + limit).map(listItem)
  })

  app.get('/api/executions/:execution_id', async (request) => {
    const row = await rowOf(request)
    const database = shards.of(row.execution_id)
    const [newest, [started]] = await Promise.all([
      readNewestEvents(database, row.execution_id, NEWEST_EVENTS),
      readEvents(database, row.execution_id, { limit: 1 }),
    ])
    const workload = isObject(started?.context) ? (started.context['workload'] ?? null) : null
    return {
      ...listItem(row),
      parent_execution_id: row.parent_execution_id === null ? null : rawInteger(row.parent_execution_id),
      workload,
      events: newest.map(eventItem),
    }
  })

  app.get('/api/executions/:execution_id/events', async (request) => {
    const row = await rowOf(request)
    const { after, limit } = check(EventsQuery, request.query)
    const events = await readEvents(shards.of(row.execution_id), row.execution_id, { after, limit })
    return {
      execution_id: rawInteger(row.execution_id),
      events: events.map(eventItem),
      last_position: row.version,
    }
  })

  app.get('/api/executions/:execution_id/status', async (request) => {
    const row = await rowOf(request)
    return {
      execution_id: rawInteger(row.execution_id),
      status: row.status,
      current_step: row.current_step,
      progress: {
        total_steps: row.total_steps,
        completed_steps: row.completed_steps,
        running_steps: row.running_steps,
        failed_steps: row.failed_steps,
      },
      is_cancelled: row.status === 'CANCELLED',
      completed: row.status === 'COMPLETED',
      failed: row.status === 'FAILED',
      error: row.error,
    }
  })

  /** The result of an execution or of one of its steps; waits for its end as long as asked to. */
  app.get('/api/executions/:execution_id/result', async (request, reply) => {
    const { execution_id: id } = await rowOf(request)
    const { step, wait_ms, include_secrets } = check(ResultQuery, request.query)
    if (wait_ms > 0) await untilEnded(core, id, wait_ms, goneSignal(reply, closing))
    const outcome = await outcomeOf(core, id, step ?? null)
    if (!outcome) throw new ProblemError('not_found', `Execution not found: ${id}`)
    const data = include_secrets === 'true' && maySeeSecrets(request) ? outcome.data : redact(outcome.data)
    return { execution_id: rawInteger(id), ...outcome, data }
  })

  app.post('/api/executions/:execution_id/cancel', async (request) => {
    const id = pathId(request, 'execution_id')
    const { reason, cascade } = check(CancelRequest, request.body)
    const cancelled = await cancelExecution(core, id, { reason: reason ?? null, cascade: cascade ?? true })
    return {
      execution_id: rawInteger(id),
      status: 'cancelled',
      message: 'Execution cancellation requested',
      cancelled_executions: cancelled,
    }
  })

  app.post('/api/executions/:execution_id/finalize', async (request) => {
    const id = pathId(request, 'execution_id')
    const { status, error } = check(FinalizeRequest, request.body)
    if (status !== 'COMPLETED' && status !== 'FAILED')
      throw new ProblemError('invalid', `Invalid finalization status: ${status}`)
    await core.demand(id, { type: 'finalize', status, error: error ?? null })
    return { execution_id: rawInteger(id), status, message: `Execution finalized with status: ${status}` }
  })
}

const listItem = (row: ExecutionRow) => ({
  execution_id: rawInteger(row.execution_id),
  catalog_id: rawInteger(row.catalog_id),
  path: row.path,
  version: row.playbook_version,
  status: row.status,
  started_at: row.started_at,
  completed_at: row.finished_at,
  event_count: row.version,
  error: row.error,
})

export const eventItem = (event: EventRecord) => ({
  event_id: rawInteger(event.eventId),
  position: event.position,
  event_type: event.eventType,
  node_name: event.nodeName,
  node_type: event.nodeType,
  status: event.status ?? 'UNKNOWN',
  created_at: event.createdAt,
  worker_id: event.workerId,
  duration_ms: event.durationMs,
  context: event.context,
  result: event.result,
  meta: event.meta,
  error: event.error,
})
