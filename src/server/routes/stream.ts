/**
 * Events as they happen, over server-sent events. Commits of this server are pushed at once; those of other
 * servers are found by looking at the log now and then. `Last-Event-ID` is the position to go on from.
 */
import type { FastifyInstance } from 'fastify'
import { ProblemError } from '../../contract/problem.ts'
import { readEvents } from '../../store/events.ts'
import { readExecution } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { eventItem } from './executions.ts'

const LOOK_MS = 1000
/** A silent connection gets a comment this often, so that nobody on the way takes it for dead. */
const KEEP_ALIVE_MS = 15_000
const PAGE = 500

export const streamRoutes = (app: FastifyInstance, { core, closing }: ServerContext): void => {
  app.get('/api/executions/:execution_id/stream', async (request, reply) => {
    const id = pathId(request, 'execution_id')
    const database = core.shards.of(id)
    if (!(await readExecution(database, id))) throw new ProblemError('not_found', `Execution not found: ${id}`)
    let position = lastPosition(request.headers['last-event-id'])
    reply.hijack()
    const { raw } = reply
    raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    raw.flushHeaders()
    let wake: () => void = () => undefined
    let writtenAt = performance.now()
    let open = true
    const close = (): void => {
      open = false
      wake()
    }
    raw.on('close', close)
    closing.addEventListener('abort', close)
    const unsubscribe = core.onCommit((state) => {
      if (state.executionId === id) wake()
    })
    try {
      while (open) {
        const woken = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_MS)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        const events = await readEvents(database, id, { after: position, limit: PAGE })
        for (const event of events) {
          position = event.position
          raw.write(`id: ${position}\nevent: ${event.eventType}\ndata: ${JSON.stringify(eventItem(event))}\n\n`)
        }
        if (events.length > 0) writtenAt = performance.now()
        if (events.length === PAGE) continue
        const row = await readExecution(database, id)
        if (row && row.status !== 'RUNNING' && row.version <= position) {
          raw.write(`event: end\ndata: ${JSON.stringify({ status: row.status, error: row.error })}\n\n`)
          break
        }
        if (performance.now() - writtenAt > KEEP_ALIVE_MS) {
          raw.write(': still here\n\n')
          writtenAt = performance.now()
        }
        await woken
      }
    } finally {
      unsubscribe()
      closing.removeEventListener('abort', close)
      wake()
      raw.end()
    }
  })
}

/** A client that sends nothing useful hears everything. */
const lastPosition = (header: string | string[] | undefined): number =>
  typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : 0
