/**
 * fetch over TLS with certificates of one's own, which the built-in one has no place for.
 *
 * 1. `ca` replaces the usual issuers; the system's are trusted when it is absent.
 * 2. `pinned` is the one certificate the server must show, under whatever name it is reached: for commands on the
 *    machine of the server, which know its certificate from its file.
 */
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

export interface ClientTls {
  /** PEM. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly pinned?: string
}

export interface SecureRequest {
  readonly method: string
  /** The only way there is. */
  readonly redirect?: 'manual'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable
  readonly signal?: AbortSignal
}

export const createSecureFetch = (
  tls: ClientTls,
): ((url: string, request: SecureRequest) => Promise<Response>) => {
  const { ca, cert, key, pinned } = tls
  const agent = new Agent({
    keepAlive: true,
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(pinned === undefined
      ? ca !== undefined && { ca }
      : { ca: pinned, allowPartialTrustChain: true, checkServerIdentity: () => undefined }),
  })
  return (url, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const outgoing = httpsRequest(
        url,
        { method, headers, agent, ...(signal === undefined ? {} : { signal }) },
        (incoming) => resolve(toResponse(incoming)),
      )
      outgoing.on('error', reject)
      if (body instanceof Readable) body.on('error', reject).pipe(outgoing)
      else outgoing.end(body)
    })
}

/** Statuses that may not come with a body. */
const WITHOUT_BODY = new Set([204, 205, 304])

const toResponse = (incoming: IncomingMessage): Response => {
  const { statusCode: status = 500 } = incoming
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value)
  if (!WITHOUT_BODY.has(status))
    return new Response(Readable.toWeb(incoming) as ReadableStream<Uint8Array>, { status, headers })
  incoming.resume()
  return new Response(null, { status, headers })
}
