/**
 * A stream as the answer to a request.
 *
 * 1. What fails before the stream is opened is answered as a problem, like that of any other route. Afterwards there is no way
 *    to say what went wrong: the connection ends, and the client may come back.
 * 2. However it ends, the connection ends with it.
 * 3. Who only asks for the head gets that, and nobody follows anything for it.
 */
import type { FastifyReply } from 'fastify'
import type { Log } from '../log.ts'
import type { EventStream } from './event-stream.ts'
import { openEventStream } from './event-stream.ts'

export const STREAM_TYPE = 'text/event-stream'

/** To be called once, when nothing is left that could refuse the request. */
export type OpenStream = () => EventStream

export interface ServeStream {
  readonly closing: AbortSignal
  readonly log: Log
  /** What the log names when the stream breaks. */
  readonly facts?: object
}

export const serveStream = async (
  reply: FastifyReply,
  { closing, log, facts = {} }: ServeStream,
  follow: (open: OpenStream) => Promise<void>,
): Promise<FastifyReply> => {
  if (reply.request.method === 'HEAD') return reply.type(STREAM_TYPE).send('')
  const opened: EventStream[] = []
  const open = (): EventStream => {
    const stream = openEventStream(reply, closing)
    opened.push(stream)
    return stream
  }
  try {
    await follow(open)
  } catch (error) {
    if (opened.length === 0) throw error
    log.warn({ ...facts, error }, 'stream broken; the client may come back')
  } finally {
    for (const stream of opened) stream.end()
  }
  return reply
}
