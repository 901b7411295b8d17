/**
 * Keeps pages of other sites from using an open server through the browser of somebody who can reach it. There is no
 * token to ask such a request for, so it is told by what browsers say about it.
 *
 * 1. A page whose name was made to lead to this machine (DNS rebinding) still sends that name: a request is heard only
 *    under a name of this machine, or the one the server was told to listen on.
 * 2. A page of another origin that changes something says where it comes from: only this server's own pages and the
 *    configured origins are heard.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback, withoutBrackets } from '../../lib/loopback.ts'
import type { CorsOrigins } from './answer-headers.ts'
import { isAllowedOrigin } from './answer-headers.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface OwnPages {
  /** The address or name the server listens on. */
  readonly host: string
  readonly origins: CorsOrigins
  /** False on a network that is trusted: names are not looked at. */
  readonly checksHost: boolean
}

/** Why the request is not heard; null when it is. */
export const strangerProblem = (
  request: { readonly method: string; readonly headers: IncomingHttpHeaders },
  { host, origins, checksHost }: OwnPages,
): string | null => {
  const given = request.headers.host ?? ''
  if (checksHost && !isOwnName(nameOf(given), host))
    return `This server does not answer to the name '${given}'; it has no access tokens, so it answers this machine only`
  const { origin } = request.headers
  if (origin === undefined || SAFE_METHODS.has(request.method)) return null
  if (isAllowedOrigin(origin, origins) || isSameOrigin(origin, given)) return null
  return `Pages of '${origin}' may not change anything here; NOETL_CORS_ORIGINS lists the origins that may`
}

const isOwnName = (name: string, host: string): boolean =>
  isLoopback(name) || withoutBrackets(name) === withoutBrackets(host)

/** Without the port. */
const nameOf = (host: string): string => host.replace(/:\d*$/, '')

const isSameOrigin = (origin: string, host: string): boolean =>
  URL.canParse(origin) && host !== '' && new URL(origin).host === host.toLowerCase()
