/**
 * Asks a server to stop the statement of one of its sessions, over a connection of its own.
 *
 * Nobody waits for it: the statement itself tells when it has ended, and whoever asked has a plan for the case that it
 * does not. So nothing that goes wrong here is reported.
 */
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

import type { ConnectionSettings } from './connection-settings.ts'

const CANCEL_CODE = 80_877_102
const TLS_CODE = 80_877_103
const GIVE_UP_MS = 3_000

const message = (...words: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 + words.length * 4)
  bytes.writeInt32BE(bytes.length, 0)
  words.forEach((word, index) => bytes.writeInt32BE(word, 4 + index * 4))
  return bytes
}

export const requestCancel = (settings: ConnectionSettings, processId: number, secretKey: number): void => {
  const { host, port, tls } = settings
  const request = message(CANCEL_CODE, processId, secretKey)
  const socket: Socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(GIVE_UP_MS, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  if (tls === false) {
    socket.once('connect', () => socket.end(request))
    return
  }
  socket.once('connect', () => socket.write(message(TLS_CODE)))
  socket.once('data', (answer) => {
    if (answer.toString('latin1', 0, 1) !== 'S') {
      if (tls.optional) socket.end(request)
      else socket.destroy()
      return
    }
    const secured = connectTls({ socket, host, ...tls.options }, () => secured.end(request))
    secured.on('error', () => socket.destroy())
  })
}
