/** What asking again will not change: somebody else answers there, nobody who is trusted, or in another language. */
import type { ProblemCode } from '../contract/problem.ts'
import { ProblemError } from '../contract/problem.ts'

/** What answers is not a NoETL server, or there is no trust between it and us. Time alone will not heal it. */
export class WrongServer extends ProblemError {
  constructor(code: ProblemCode, message: string, options: { cause?: unknown } = {}) {
    super(code, message, options)
    this.name = 'WrongServer'
  }
}

const WHENCE = 'The address is that of --server or NOETL_SERVER_URL'

/** Where the address comes from, for those who have a wrong one. */
export const IS_IT_OURS = `is it a NoETL server? ${WHENCE}`

/** A plain address of a server that encrypts. */
export const speaksTlsProblem = (url: string, cause?: unknown): WrongServer =>
  new WrongServer(
    'unavailable',
    `${url} speaks TLS, not plain HTTP; write ${url.replace(/^http:/, 'https:')}. ${WHENCE}`,
    { cause },
  )

/** Redirects are not followed: a POST would arrive as a GET, and the token not at all. */
export const redirectProblem = (url: string, path: string, location: string): WrongServer => {
  const target = URL.parse(location, url + path)
  const base = target === null ? location : target.origin + target.pathname
  const [pathname = ''] = path.split('?')
  const fix = base.endsWith(pathname) ? base.slice(0, base.length - pathname.length) : base
  return fix === url
    ? new WrongServer('unavailable', `${url} redirects to itself; ${IS_IT_OURS}`)
    : new WrongServer('unavailable', `${url} redirects to ${fix}; write that. ${WHENCE}`)
}
