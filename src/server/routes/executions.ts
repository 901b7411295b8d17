/**
 * Looking at executions.
 *
 * 1. Every answer comes from the row of the execution and a bounded stretch of its log.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  CancellationCheckAnswer,
  ExecutionDetailAnswer,
  ExecutionDetailQuery,
  ExecutionList,
  ExecutionListQuery,
  ExecutionResultAnswer,
  ExecutionResultQuery,
  ExecutionStatusAnswer,
  NEWEST_EVENTS,
} from '../../contract/api-executions.ts'
import { terminalStatusOf } from '../../contract/event.ts'
import { isObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { redact } from '../../contract/sensitive.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { readCompletedSteps, readEventAt } from '../../store/events.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { readExecution } from '../../store/executions.ts'
import type { Shards } from '../../store/shards.ts'
import { listVariables } from '../../store/variables.ts'
import type { ServerContext } from '../app.ts'
import { pageOfEvents } from '../event-pages.ts'
import { eventItem, executionItem, timesOf } from '../execution-answers.ts'
import { goneSignal, pathId } from '../http.ts'
import { pageOfExecutions } from '../list-executions.ts'
import { outcomeOf, untilEnded } from '../outcome.ts'
import { route } from '../route.ts'
import { maySeeSecrets } from '../secret-access.ts'

const tag = 'executions'

export const executionRoutes = (app: FastifyInstance, context: ServerContext): void => {
  listRoute(app, context)
  detailRoute(app, context)
  statusRoute(app, context)
  cancellationCheckRoute(app, context)
  resultRoute(app, context)
}

/** The row of the execution in the path; a missing one is a problem. */
export const rowOf = async (shards: Shards, request: FastifyRequest): Promise<ExecutionRow> => {
  const id = pathId(request, 'execution_id')
  const row = await readExecution(shards.of(id), id)
  if (!row) throw new ProblemError('not_found', `Execution not found: ${id}`)
  return row
}

const listRoute = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions',
      name: 'listExecutions',
      tag,
      access: 'viewer',
      summary: 'List executions, newest first',
      description:
        'Filters apply before paging. The next page is at the `cursor` of the header `x-next-cursor`, and at the `link` with `rel="next"`; `offset` and `page` work, too.',
      query: ExecutionListQuery,
      answer: ExecutionList,
    },
    async ({ request, reply, query }) => {
      const { search } = query
      const isId = search !== null && /^\d{1,19}$/.test(search)
      if (search !== null && !isId && query.path !== null)
        throw new ProblemError('invalid', 'send either path, or a search for a part of it')
      const { rows, nextCursor } = await pageOfExecutions(shards, {
        status: query.status ?? null,
        catalogId: query.catalog_id ?? null,
        parentExecutionId: query.parent_execution_id ?? null,
        path: query.path ?? (isId ? null : search),
        idPrefix: isId ? search : null,
        startedAfter: query.started_after ?? null,
        startedBefore: query.started_before ?? null,
        before: query.cursor,
        limit: query.limit,
        offset: query.offset,
      })
      if (nextCursor !== null)
        void reply.header('x-next-cursor', nextCursor).header('link', nextLink(request.url, nextCursor))
      const now = Date.now()
      return rows.map((row) => executionItem(row, now))
    },
  )

/** The same question, going on behind the cursor. */
const nextLink = (url: string, cursor: string): string => {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  for (const name of ['offset', 'page']) searchParams.delete(name)
  searchParams.set('cursor', cursor)
  return `<${pathname}?${searchParams.toString()}>; rel="next"`
}

const detailRoute = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id',
      name: 'getExecution',
      tag,
      access: 'viewer',
      summary: 'Show an execution with its workload and a page of its events',
      description: `Without a page the newest ${NEWEST_EVENTS} events. Pages count from the newest; inside a page the oldest event comes first.`,
      query: ExecutionDetailQuery,
      answer: ExecutionDetailAnswer,
      problems: ['not_found'],
    },
    async ({ request, query }) => {
      const row = await rowOf(shards, request)
      const database = shards.of(row.execution_id)
      const [{ events, pagination }, started] = await Promise.all([
        pageOfEvents(database, row, {
          page: query.page ?? 1,
          pageSize: query.page_size ?? (query.page === undefined ? NEWEST_EVENTS : DEFAULT_PAGE),
          sinceEventId: query.since_event_id ?? null,
          types: query.event_type,
          counted: !query.include_events,
        }),
        readEventAt(database, row.execution_id, 1, null),
      ])
      return {
        ...executionItem(row, Date.now()),
        workload: isObject(started?.context) ? (started.context['workload'] ?? null) : null,
        events: events.map(eventItem),
        pagination,
        events_endpoint: `/api/executions/${row.execution_id}/events`,
      }
    },
  )

/** Events of a page whose size was not given. */
export const DEFAULT_PAGE = 100

const statusRoute = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/status',
      name: 'getExecutionStatus',
      tag,
      access: 'viewer',
      summary: 'Tell where an execution stands',
      answer: ExecutionStatusAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const row = await rowOf(shards, request)
      const database = shards.of(row.execution_id)
      const newest = { after: Math.max(0, row.version - NEWEST_EVENTS), upTo: row.version }
      const [completedSteps, variables, isInferred] = await Promise.all([
        row.completed_steps === 0 ? [] : readCompletedSteps(database, row.execution_id, newest),
        listVariables(database, row.execution_id, null),
        endIsInferred(shards, row),
      ])
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
        completion_inferred: isInferred,
        completed_steps: completedSteps,
        variables: Object.fromEntries(variables.map(({ name, value }) => [name, value])),
        path: row.path,
        ...timesOf(row, Date.now()),
        error: row.error,
      }
    },
  )

/** The end is an event of its own; only a log that came from elsewhere may lack one. */
const endIsInferred = async (shards: Shards, row: ExecutionRow): Promise<boolean> => {
  if (!row.imported || row.status === 'RUNNING') return false
  const last = await readEventAt(shards.of(row.execution_id), row.execution_id, row.version, null)
  return terminalStatusOf(last?.eventType ?? '') === null
}

const cancellationCheckRoute = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/cancellation-check',
      name: 'checkCancellation',
      tag,
      access: 'viewer',
      summary: 'Tell whether an execution was cancelled',
      description: 'An execution that does not exist was not cancelled.',
      answer: CancellationCheckAnswer,
    },
    async ({ request }) => {
      const id = pathId(request, 'execution_id')
      const database = shards.of(id)
      const row = await readExecution(database, id)
      const newest = row ? await readEventAt(database, id, row.version, null) : null
      return {
        execution_id: rawInteger(id),
        is_cancelled: row?.status === 'CANCELLED',
        status: row?.status ?? null,
        event_type: newest?.eventType ?? null,
        cancelled: row?.status === 'CANCELLED',
        completed: row?.status === 'COMPLETED',
        failed: row?.status === 'FAILED',
      }
    },
  )

const resultRoute = (app: FastifyInstance, { core, closing }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/result',
      name: 'getExecutionResult',
      tag,
      access: 'viewer',
      summary: 'Read the result of an execution or of one of its steps',
      description: 'With `wait_ms` it waits for the end of the execution.',
      query: ExecutionResultQuery,
      answer: ExecutionResultAnswer,
      problems: ['not_found'],
    },
    async ({ request, reply, query: { step, wait_ms, include_secrets } }) => {
      const { execution_id: id } = await rowOf(core.shards, request)
      if (wait_ms > 0) await untilEnded(core, id, wait_ms, goneSignal(reply, closing))
      const outcome = await outcomeOf(core, id, step ?? null)
      if (!outcome) throw new ProblemError('not_found', `Execution not found: ${id}`)
      const data = include_secrets && maySeeSecrets(request) ? outcome.data : redact(outcome.data)
      return { execution_id: rawInteger(id), ...outcome, data }
    },
  )
