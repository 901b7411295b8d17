/** The state of an execution as its log tells it, now or at any point of the past. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ReplayAnswer, ReplayQuery } from '../../contract/api-replay.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { Projection } from '../../replay/projection/view.ts'
import { PROJECTIONS } from '../../replay/projection/view.ts'
import type { ServerContext } from '../app.ts'
import type { ReplayCutoff } from '../replay/replay.ts'
import { replay } from '../replay/replay.ts'
import { replayAnswer } from '../replay/replay-answer.ts'
import { route } from '../route.ts'

export const replayRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { shards, sealer, log } = core

  route(
    app,
    {
      method: 'GET',
      url: '/api/replay/state',
      tag: 'replay',
      access: 'viewer',
      summary: 'Fold the log of an execution, as a whole or up to an event, a position or an instant',
      query: ReplayQuery,
      answer: ReplayAnswer,
      problems: ['bad_request', 'not_found'],
    },
    async ({ query, reply }) => {
      const request = {
        executionId: query.execution_id,
        scope: { tenantId: query.tenant_id, organizationId: query.organization_id },
        cutoff: cutoffOf(query),
        limit: query.limit,
      }
      const projection = projectionOf(query.projection)
      const replayed = await replay(request, { database: shards.of(request.executionId), log })
      const payloads = query.resolve_payloads ? { shards, sealer } : null
      const pieces = await replayAnswer(request, replayed, { projection, payloads })
      return reply.type('application/json; charset=utf-8').send(bodyOf(pieces))
    },
  )
}

const PIECE = 256 * 1024

/** A small answer as one text, a large one as a stream. */
const bodyOf = (pieces: Iterable<string>): string | Readable => {
  const gathered = gather(pieces)
  const first = gathered.next().value ?? ''
  return first.length < PIECE ? first : Readable.from(joined(first, gathered), { objectMode: false })
}

function* gather(pieces: Iterable<string>): Generator<string, undefined> {
  let text = ''
  for (const piece of pieces) {
    text += piece
    if (text.length < PIECE) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

function* joined(first: string, rest: Iterable<string>): Generator<string> {
  yield first
  yield* rest
}

const cutoffOf = (query: ReplayQuery): ReplayCutoff => {
  const { as_of_event_id, as_of_position, as_of_time, as_of_sequence } = query
  const given = [as_of_event_id, as_of_position, as_of_time, as_of_sequence].filter(
    (cutoff) => cutoff !== null,
  )
  if (given.length > 1)
    throw new ProblemError(
      'bad_request',
      'Use only one replay cutoff: as_of_event_id, as_of_position, or as_of_time',
    )
  return { eventId: as_of_event_id ?? as_of_position, time: as_of_time, position: as_of_sequence }
}

const projectionOf = (name: string): Projection => {
  const projection = PROJECTIONS.find((known) => known === name)
  if (projection) return projection
  throw new ProblemError(
    'bad_request',
    `unknown projection "${name}"; expected one of: ${PROJECTIONS.join(', ')}`,
  )
}
