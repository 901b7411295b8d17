/** The log of an execution, page by page. */
import type { FastifyInstance } from 'fastify'
import { EventsAnswer, EventsQuery } from '../../contract/api-executions.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { ServerContext } from '../app.ts'
import { pageOfEvents, walkEvents } from '../event-pages.ts'
import { eventItem } from '../execution-answers.ts'
import { route } from '../route.ts'
import { DEFAULT_PAGE, rowOf } from './executions.ts'

export const executionEventRoutes = (app: FastifyInstance, { core: { shards } }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/events',
      name: 'listEvents',
      tag: 'executions',
      access: 'viewer',
      summary: 'Read the log of an execution by the page',
      description:
        'By position (`after`, `before`, `limit`, `order`), going on at `next_after` or `next_before`; or by number (`page`, `page_size`), counted from the newest page. `since_event_id` and `event_type` work with both.',
      query: EventsQuery,
      answer: EventsAnswer,
      problems: ['not_found'],
    },
    async ({ request, query }) => {
      const row = await rowOf(shards, request)
      const database = shards.of(row.execution_id)
      const common = { sinceEventId: query.since_event_id ?? null, types: query.event_type }
      const answer = { execution_id: rawInteger(row.execution_id), last_position: row.version }
      if (query.page !== undefined || query.page_size !== undefined) {
        const { page = 1, page_size: pageSize = DEFAULT_PAGE } = query
        const { events, pagination } = await pageOfEvents(database, row, { ...common, page, pageSize })
        const shown = query.order === 'desc' ? events.toReversed() : events
        return { ...answer, events: shown.map(eventItem), next_after: null, next_before: null, pagination }
      }
      const newestFirst = query.order === 'desc'
      const { events, next } = await walkEvents(database, row, {
        ...common,
        after: query.after ?? 0,
        before: query.before ?? null,
        newestFirst,
        limit: query.limit,
      })
      return {
        ...answer,
        events: events.map(eventItem),
        next_after: newestFirst ? null : next,
        next_before: newestFirst ? next : null,
        pagination: null,
      }
    },
  )
