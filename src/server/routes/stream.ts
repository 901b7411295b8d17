/**
 * Events as they happen, over server-sent events. Commits of this server are pushed at once; those of other
 * servers are found by looking at the log now and then. `Last-Event-ID` is the position to go on from.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { ProblemError } from '../../contract/problem.ts'
import { readEvents } from '../../store/events.ts'
import { readExecution } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import type { Core } from '../core.ts'
import { pathId } from '../http.ts'
import { eventItem } from './executions.ts'

const LOOK_MS = 1000
/** A silent connection gets a comment this often, so that nobody on the way takes it for dead. */
const KEEP_ALIVE_MS = 15_000
const PAGE = 500

export const streamRoutes = (app: FastifyInstance, { core, closing }: ServerContext): void => {
  app.get('/api/executions/:execution_id/stream', async (request, reply) => {
    const id = pathId(request, 'execution_id')
    if (!(await readExecution(core.shards.of(id), id)))
      throw new ProblemError('not_found', `Execution not found: ${id}`)
    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    raw.flushHeaders()
    const gone = new AbortController()
    const close = (): void => gone.abort()
    raw.on('close', close)
    closing.addEventListener('abort', close)
    if (closing.aborted) close()
    try {
      await follow(core, id, lastPosition(request.headers['last-event-id']), raw, gone.signal)
    } finally {
      closing.removeEventListener('abort', close)
      raw.end()
    }
  })
}

/** Writes events until the execution is over and everything is told, or nobody listens any more. */
const follow = async (
  core: Core,
  id: string,
  from: number,
  raw: ServerResponse,
  gone: AbortSignal,
): Promise<void> => {
  const database = core.shards.of(id)
  const bell = createBell(core, id, gone)
  let position = from
  let writtenAt = performance.now()
  try {
    while (!gone.aborted) {
      // Listen before looking: what happens in between must not be missed.
      const rung = bell.next()
      const events = await readEvents(database, id, { after: position, limit: PAGE })
      for (const event of events) {
        position = event.position
        raw.write(message(event.eventType, eventItem(event), position))
      }
      if (events.length > 0) writtenAt = performance.now()
      if (events.length === PAGE) continue
      const row = await readExecution(database, id)
      if (row && row.status !== 'RUNNING' && row.version <= position) {
        raw.write(message('end', { status: row.status, error: row.error }))
        return
      }
      if (performance.now() - writtenAt > KEEP_ALIVE_MS) {
        raw.write(': still here\n\n')
        writtenAt = performance.now()
      }
      await rung
    }
  } finally {
    bell.close()
  }
}

/** One server-sent event. Names come from clients: a line break in one would start a field of its own. */
const message = (name: string, data: object, position?: number): string => {
  const id = position === undefined ? '' : `id: ${position}\n`
  return `${id}event: ${name.replaceAll(/[\r\n]/g, ' ')}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Rings when the execution changed here, when it is time to look, and when the listener left. */
const createBell = (core: Core, id: string, gone: AbortSignal): { next(): Promise<void>; close(): void } => {
  let ring: () => void = () => undefined
  const onGone = (): void => ring()
  gone.addEventListener('abort', onGone)
  const unsubscribe = core.onCommit((state) => {
    if (state.executionId === id) ring()
  })
  return {
    next: () => {
      ring()
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, LOOK_MS)
        ring = () => {
          clearTimeout(timer)
          resolve()
        }
        if (gone.aborted) ring()
      })
    },
    close: () => {
      unsubscribe()
      gone.removeEventListener('abort', onGone)
      ring()
    },
  }
}

/** A client that sends nothing useful hears everything. */
const lastPosition = (header: string | string[] | undefined): number =>
  typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : 0
