/**
 * Server-sent events to one client.
 *
 * 1. A client that reads slowly is waited for; one that does not read at all for a while is disconnected. It can come back
 *    with the last id it got.
 * 2. One event is one message, whatever its name and data hold.
 * 3. A silent connection gets a comment now and then, so that nobody on the way takes it for dead.
 * 4. A client that left before its stream was opened is gone from the start: it will not leave a second time.
 */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

export interface EventStream {
  /** Aborts when the client left, was disconnected, or the server stops. */
  readonly gone: AbortSignal
  /** Resolves when there is room for more. */
  send(message: StreamMessage): Promise<void>
  /** Tells the client from where to go on, without a message. */
  place(id: string): Promise<void>
  /** Says that the connection lives, when it was silent for long; may also tell a newer id. */
  keepAlive(id?: string): Promise<void>
  end(): void
}

export interface StreamMessage {
  readonly name: string
  readonly data: object
  /** What the client sends to go on after this message. */
  readonly id?: string
}

/** A silent connection gets a comment this often. */
export const KEEP_ALIVE_MS = 15_000
/** A client that takes nothing for this long is disconnected. */
const STUCK_MS = 30_000

export const openEventStream = (
  reply: FastifyReply,
  closing: AbortSignal,
  { stuckMs = STUCK_MS }: { stuckMs?: number } = {},
): EventStream => {
  reply.hijack()
  const { raw } = reply
  const gone = new AbortController()
  const leave = (): void => gone.abort()
  raw.on('close', leave)
  closing.addEventListener('abort', leave)
  if (closing.aborted || raw.destroyed) leave()
  raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  let writtenAt = performance.now()

  const write = async (text: string): Promise<void> => {
    if (gone.signal.aborted) return
    writtenAt = performance.now()
    if (raw.write(text)) return
    if (!(await drained(raw, gone.signal, stuckMs))) {
      leave()
      raw.destroy()
    }
  }

  return {
    gone: gone.signal,
    send: ({ name, data, id }) => write(messageText(name, data, id)),
    place: (id) => write(`id: ${id}\n\n`),
    keepAlive: (id) =>
      performance.now() - writtenAt < KEEP_ALIVE_MS
        ? Promise.resolve()
        : write(`: still here\n${id === undefined ? '' : `id: ${id}\n`}\n`),
    end: () => {
      closing.removeEventListener('abort', leave)
      raw.end()
    },
  }
}

/** Names come from clients: a line break in one would start a field of its own. */
const messageText = (name: string, data: object, id: string | undefined): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${name.replaceAll(/[\r\n]/g, ' ')}\ndata: ${JSON.stringify(data)}\n\n`

/** False when the client took nothing for too long. */
const drained = (raw: ServerResponse, gone: AbortSignal, stuckMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const done = (isDrained: boolean) => (): void => {
      clearTimeout(timer)
      raw.off('drain', onDrain)
      gone.removeEventListener('abort', onGone)
      resolve(isDrained)
    }
    const onDrain = done(true)
    const onGone = done(true)
    const timer = setTimeout(done(false), stuckMs)
    raw.once('drain', onDrain)
    gone.addEventListener('abort', onGone)
    if (gone.aborted) onGone()
  })
