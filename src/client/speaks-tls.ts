/**
 * Finds out whether a server encrypts, by greeting it. One that does and hears plain HTTP hangs up, sends an alert, or
 * answers 400, depending on what it is made of; only its answer to a greeting is certain.
 *
 * 1. Nothing is sent but the greeting: neither token nor request.
 * 2. Whoever answers late, or not in TLS, does not speak it.
 */
import { isIP } from 'node:net'
import { connect } from 'node:tls'

const PATIENCE_MS = 2000
const TLS_PORT = 443

export const speaksTls = (url: string, patienceMs = PATIENCE_MS): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const host = hostname.replace(/^\[(.*)\]$/, '$1')
    const socket = connect({
      host,
      port: port === '' ? TLS_PORT : Number(port),
      ...(isIP(host) === 0 ? { servername: host } : {}),
      // Whom it can prove to be is not asked here: the connection ends before anything is said.
      rejectUnauthorized: false,
    })
    const finish = (answer: boolean): void => {
      resolve(answer)
      socket.destroy()
    }
    socket.setTimeout(patienceMs, () => finish(false))
    socket.on('secureConnect', () => finish(true))
    socket.on('error', (error: NodeJS.ErrnoException) => finish(WANTS_MORE.test(error.code ?? '')))
    socket.on('close', () => finish(false))
  })

/** It speaks TLS, but not with just anybody, or only another version of it. */
const WANTS_MORE = /^ERR_SSL_.*(?:ALERT|CERTIFICATE|UNSUPPORTED_PROTOCOL)/
