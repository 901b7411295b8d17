/** Puts access control together for one server: who is let in, over which connections, and how this machine gets in. */
import { X509Certificate } from 'node:crypto'
import type { ClientOptions } from '../client/transport.ts'
import { mintSecret } from '../lib/access-token.ts'
import type { ServerContext } from '../server/app.ts'
import { createDoor } from '../server/access/door.ts'
import type { Log } from '../server/log.ts'
import type { Database } from '../store/database.ts'
import { hasTokens } from '../store/tokens.ts'
import type { Reach } from './host.ts'
import { needsTokens, refuseOpenHost } from './host.ts'
import { loadServerTls } from './tls.ts'

export interface Guard {
  readonly scheme: 'http' | 'https'
  /** What commands on this machine show. */
  readonly access: ClientOptions
  /** Refuses to serve others without tokens. */
  protect(
    database: Database,
    log: Log,
  ): Promise<Required<Pick<ServerContext, 'access' | 'tls' | 'trustedProxies'>>>
}

/** Throws when certificates cannot be used, before anything is started. */
export const createGuard = (reach: Reach): Guard => {
  const { host, insecure, access } = reach
  const tls = loadServerTls(access.tls)
  const localToken = mintSecret()
  // The first certificate of the file alone: what others its issuer signs is not ours.
  const pinned = tls ? { tls: { pinned: new X509Certificate(tls.cert).toString() } } : {}
  return {
    scheme: tls ? 'https' : 'http',
    access: { token: localToken, ...pinned },
    protect: async (database, log) => {
      if (needsTokens(reach)) refuseOpenHost(reach, await hasTokens(database))
      const { auth: mode, adminToken, corsOrigins: origins, trustedProxies } = access
      const door = createDoor({ mode, database, log, adminToken, localToken })
      return { access: { door, host, origins, checksHost: !insecure }, tls, trustedProxies }
    },
  }
}
