/** A client of streams that sends what it is told, byte for byte, and decides itself when to leave. */
import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface StreamAnswer {
  /** 0 when the connection ended without an answer. */
  readonly status: number
  readonly isStream: boolean
  /** What arrived after the head. */
  readonly body: string
}

export interface StreamClient {
  readonly socket: Socket
  /** Resolves when the answer is complete, or what came of it so far fits; a stream is complete when it ends. */
  read(fits?: (answer: StreamAnswer) => boolean): Promise<StreamAnswer>
  leave(): void
}

export interface StreamRequest {
  readonly method?: string
  readonly url: string
  /** Header lines; bytes above 127 are sent as they are. */
  readonly headers?: readonly string[]
}

export const openClient = (
  port: number,
  { method = 'GET', url, headers = [] }: StreamRequest,
): StreamClient => {
  const socket = connect(port, '127.0.0.1')
  const lines = [`${method} ${url} HTTP/1.1`, 'host: 127.0.0.1', 'connection: close', ...headers, '', '']
  socket.write(Buffer.from(lines.join('\r\n'), 'latin1'))
  let received = ''
  let isOver = false
  let look = (): void => undefined
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    look()
  })
  // A connection that is cut ends like any other.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isOver = true
    look()
  })
  return {
    socket,
    read: (fits = () => false) =>
      new Promise((resolve) => {
        look = () => {
          const answer = parseAnswer(received)
          if (isOver || (answer.status > 0 && fits(answer))) resolve(answer)
        }
        look()
      }),
    leave: () => void socket.destroy(),
  }
}

const parseAnswer = (received: string): StreamAnswer => {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return { status: 0, isStream: false, body: '' }
  const head = received.slice(0, end)
  const isChunked = /^transfer-encoding: chunked$/im.test(head)
  const rest = received.slice(end + 4)
  return {
    status: Number(head.split(' ')[1]),
    isStream: /^content-type: text\/event-stream/im.test(head),
    body: isChunked ? joinChunks(rest) : rest,
  }
}

/** The whole chunks that have arrived. */
const joinChunks = (text: string): string => {
  let joined = ''
  for (let at = 0; ;) {
    const end = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, end), 16)
    if (end === -1 || !(size > 0) || text.length < end + 2 + size) return joined
    joined += text.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
  }
}
