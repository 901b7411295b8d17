/** Messages for the outside, for publishers that are not part of this server. */
import type { FastifyInstance } from 'fastify'
import {
  MarkFailedAnswer,
  MarkPublishedAnswer,
  OutboxClaimAnswer,
  PendingCountAnswer,
} from '../../contract/answers-internal.ts'
import { MarkFailedRequest, MarkPublishedRequest, OutboxClaimRequest } from '../../contract/api-internal.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { OutboxMessage } from '../../store/outbox.ts'
import { backoffSeconds, claimOutbox, countPending, markFailed, markPublished } from '../../store/outbox.ts'
import { onEvery } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { outboxIds } from '../outbox/outbox-ids.ts'
import { route } from '../route.ts'

const MAX_CLAIMED = 1000
const tag = 'internal'
const access = 'internal'

export const outboxRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { shards } = core
  const ids = outboxIds(shards)

  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/outbox/claim',
      name: 'claimOutbox',
      tag,
      access,
      summary: 'Take messages that wait to be published',
      description: 'Whoever takes them has a minute to mark them; then they are available again.',
      body: OutboxClaimRequest,
      answer: OutboxClaimAnswer,
    },
    async ({ reply, body: { limit } }) => {
      const wanted = Math.min(MAX_CLAIMED, Math.max(1, limit))
      const rows: string[] = []
      for (const [index, database] of shards.all.entries()) {
        if (rows.length >= wanted) break
        const claimed = await claimOutbox(database, wanted - rows.length)
        rows.push(...claimed.map((row) => rowText(row, ids.toWire(index, row.outbox_id))))
      }
      return reply
        .type('application/json; charset=utf-8')
        .send(`{"rows":[${rows.join()}],"claimed":${rows.length}}`)
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/outbox/mark-published',
      name: 'markOutboxPublished',
      tag,
      access,
      summary: 'Say that messages were published',
      body: MarkPublishedRequest,
      answer: MarkPublishedAnswer,
      problems: ['bad_request'],
    },
    async ({ body: { outbox_ids } }) => {
      if (outbox_ids.length === 0) throw new ProblemError('bad_request', 'outbox_ids must not be empty')
      let marked = 0
      for (const [database, group] of ids.byDatabase(outbox_ids))
        marked += await markPublished(database, group)
      return { marked }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/outbox/mark-failed',
      name: 'markOutboxFailed',
      tag,
      access,
      summary: 'Say that a message could not be published',
      description:
        'It is tried again later: after 1, 2, 4, ... seconds, by its number of attempts. `marked` is false for a message that does not exist or was published meanwhile.',
      body: MarkFailedRequest,
      answer: MarkFailedAnswer,
      problems: ['bad_request'],
    },
    async ({ body: { outbox_id, error, attempts, max_delay_seconds } }) => {
      if (error === '') throw new ProblemError('bad_request', 'error must not be empty')
      const delaySeconds = backoffSeconds(attempts, max_delay_seconds)
      let marked = false
      for (const [database, [outboxId = '0']] of ids.byDatabase([outbox_id]))
        marked = await markFailed(database, { outboxId, error, delaySeconds })
      return { marked, available_at_in: delaySeconds }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/internal/outbox/pending-count',
      name: 'countOutbox',
      tag,
      access,
      summary: 'How many messages wait',
      answer: PendingCountAnswer,
    },
    async () => ({ pending: await onEvery(shards, countPending) }),
  )
}

/** The payload goes out as it is stored: reading it would cost time and the digits of its ids. */
const rowText = (row: OutboxMessage, outboxId: string): string => {
  const rest = JSON.stringify({
    outbox_id: rawInteger(outboxId),
    event_id: rawInteger(row.event_id),
    ...(row.execution_id === null ? {} : { execution_id: rawInteger(row.execution_id) }),
    ...(row.subject === null ? {} : { subject: row.subject }),
    payload_codec: row.payload_codec,
    attempts: row.attempts,
  })
  return `${rest.slice(0, -1)},"payload":${row.payload}}`
}
