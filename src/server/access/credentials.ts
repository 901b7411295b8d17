/**
 * How a request shows its token.
 *
 * 1. `Authorization: Bearer <token>` counts everywhere, and alone when it is there.
 * 2. A browser cannot set that header on an EventSource or a link: it may be given a cookie instead, which counts for
 *    requests that change nothing only. So no page of another site can change anything with it. Browsers send cookies
 *    of one server to another port of the same machine: a wrong one counts as none.
 * 3. A token never stands in an address: those end up in histories, logs and referrers.
 */
import type { IncomingHttpHeaders } from 'node:http'

const COOKIE = 'noetl_session'

export interface Presented {
  readonly token: string
  /** The browser sent it by itself. */
  readonly isCookie: boolean
}

/** Null for nothing, undefined for credentials that are none of ours. */
export const presentedToken = (request: {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}): Presented | null | undefined => {
  const { authorization, cookie } = request.headers
  if (authorization !== undefined) {
    const token = /^bearer +(\S.*)$/i.exec(authorization)?.[1]?.trim()
    return token === undefined ? undefined : { token, isCookie: false }
  }
  if (cookie === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return null
  const token = cookieOf(cookie)
  return token === null ? null : { token, isCookie: true }
}

const cookieOf = (header: string): string | null => {
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.split('=', 2)
    if (name.trim() === COOKIE && value.trim() !== '') return value.trim()
  }
  return null
}

/** `Set-Cookie` for a token; null takes it back. It lasts as long as the browser runs. */
export const sessionCookie = (token: string | null, isEncrypted: boolean): string =>
  [
    `${COOKIE}=${token ?? ''}`,
    'Path=/api',
    'HttpOnly',
    'SameSite=Strict',
    ...(token === null ? ['Max-Age=0'] : []),
    ...(isEncrypted ? ['Secure'] : []),
  ].join('; ')
