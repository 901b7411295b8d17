/**
 * Counts requests as they are answered. What a request was about comes from its route and its checked body, so that
 * routes need not know that they are counted.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isObject } from '../../contract/json.ts'
import type { Metrics } from './metrics.ts'
import { eventTypeLabel } from './metrics.ts'

/** The words for routes that register or store something. */
const WRITES: Readonly<Record<string, string>> = {
  'POST /api/catalog/register': 'catalog_register',
  'POST /api/credentials': 'credentials_upsert',
  'POST /api/keychain/:catalog_id/:keychain_name': 'keychain_set',
  'POST /api/worker/pool/register': 'runtime_register',
  'POST /api/worker/pool/heartbeat': 'runtime_heartbeat',
}

/** Every route that is counted by more than its name. */
export const countedRoutes = (): readonly string[] => [...Object.keys(WRITES), ...Object.keys(COUNTERS)]

export const installRequestMetrics = (app: FastifyInstance, metrics: Metrics): void => {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    const { method } = request
    const status = String(reply.statusCode)
    const seconds = reply.elapsedTime / 1000
    metrics.requests.total.inc({ method, route, status })
    // Streams and long polls last as long as their callers like.
    if (!route.endsWith('/stream') && !LONG_POLLS.has(route))
      metrics.requests.seconds.observe({ method, route }, seconds)
    countKnown(`${method} ${route}`, request, reply, seconds, metrics)
  })
}

const LONG_POLLS: ReadonlySet<string> = new Set(['/api/commands/lease', '/api/commands/heartbeat'])

const okOrError = (reply: FastifyReply): 'ok' | 'error' => (reply.statusCode < 400 ? 'ok' : 'error')

const countKnown = (
  route: string,
  request: FastifyRequest,
  reply: FastifyReply,
  seconds: number,
  metrics: Metrics,
): void => {
  const endpoint = WRITES[route]
  if (endpoint !== undefined) {
    metrics.writes.total.inc({ endpoint, status: okOrError(reply) })
    metrics.writes.seconds.observe({ endpoint }, seconds)
    return
  }
  COUNTERS[route]?.(request, reply, seconds, metrics)
}

type Count = (request: FastifyRequest, reply: FastifyReply, seconds: number, metrics: Metrics) => void

const field = (body: unknown, ...names: readonly string[]): unknown =>
  isObject(body) ? names.map((name) => body[name]).find((value) => value !== undefined) : undefined

const CALLBACK_STATES: ReadonlySet<unknown> = new Set([
  'succeeded',
  'failed',
  'failed_image_pull',
  'failed_oom',
  'failed_node_lost',
  'failed_timeout',
])

const COUNTERS: Readonly<Record<string, Count>> = {
  'POST /api/events': ({ body }, reply, seconds, { ingest }) => {
    const event_type = eventTypeLabel(field(body, 'event_type', 'name'))
    ingest.total.inc({ event_type, status: okOrError(reply) })
    ingest.seconds.observe({ event_type }, seconds)
  },
  'POST /api/events/batch': ({ body }, reply, _seconds, { ingest }) => {
    const events = field(body, 'events')
    if (!Array.isArray(events)) return
    for (const event of events)
      ingest.total.inc({
        event_type: eventTypeLabel(field(event, 'event_type', 'name')),
        status: okOrError(reply),
      })
  },
  'PUT /api/result/:execution_id': (_request, reply, seconds, { results }) => {
    const status = okOrError(reply)
    results.put.inc({ status })
    results.putSeconds.observe({ status }, seconds)
  },
  'GET /api/result/resolve': (_request, { statusCode }, seconds, { results }) => {
    const status =
      statusCode < 400 ? 'ok' : statusCode === 404 ? 'not_found' : statusCode < 500 ? 'bad_request' : 'error'
    results.resolve.inc({ status })
    results.resolveSeconds.observe({ status }, seconds)
  },
  'GET /api/credentials/:identifier/sealed': (_request, reply, _seconds, { others }) =>
    others.sealed.inc({ status: okOrError(reply) }),
  'POST /api/internal/container-callback/:execution_id/:step': ({ body }, _reply, _seconds, { others }) => {
    const state = field(body, 'state')
    others.callbacks.inc({ state: CALLBACK_STATES.has(state) ? String(state) : 'other' })
  },
}
