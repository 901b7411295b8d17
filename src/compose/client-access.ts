/** How this program shows who it is to a server: what the user gave wins over what the server left in its file. */
import type { ClientOptions } from '../client/transport.ts'
import type { ServerRecord } from './server-file.ts'
import type { Env } from './settings.ts'
import { loadClientTls } from './tls.ts'

/** From a flag or the environment. */
export const givenAccess = (tokenFlag: string | null | undefined, env: Env): ClientOptions => {
  const tls = loadClientTls(env)
  const token = tokenFlag ?? (env['NOETL_TOKEN'] || undefined)
  return { ...(token === undefined ? {} : { token }), ...(tls ? { tls } : {}) }
}

/** For the server that announced itself in a file that only its user can read. */
export const announcedAccess = (given: ClientOptions, { access = {} }: ServerRecord): ClientOptions => {
  const tls = access.tls || given.tls ? { ...access.tls, ...given.tls } : undefined
  const token = given.token ?? access.token
  return { ...(token === undefined ? {} : { token }), ...(tls ? { tls } : {}) }
}
