/** A test server with access control: tokens in its database, one of each role at hand. */
import { ROLES } from '../../src/contract/access.ts'
import type { Role } from '../../src/contract/access.ts'
import { createWallet } from '../../src/lib/envelope.ts'
import type { Door, DoorOptions } from '../../src/server/access/door.ts'
import { createDoor } from '../../src/server/access/door.ts'
import type { FailureLimiter } from '../../src/server/access/failure-limiter.ts'
import type { AccessControl } from '../../src/server/access/install.ts'
import { createToken } from '../../src/server/access/tokens.ts'
import type { ServerContext } from '../../src/server/app.ts'
import { createApp } from '../../src/server/app.ts'
import { INTERNAL_TOKEN, TEST_KEY } from './api-server.ts'
import type { Method, Response } from './http-face.ts'
import { ask } from './http-face.ts'
import type { TestServer } from './server.ts'

export interface AccessFace {
  readonly app: ReturnType<typeof createApp>
  readonly door: Door
  /** `who` is a token, or null for nobody. */
  call(who: string | null, method: string, path: string, options?: CallOptions): Promise<Response>
  close(): Promise<void>
}

export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
}

export interface AccessOptions extends Partial<Omit<AccessControl, 'door'>> {
  readonly mode?: DoorOptions['mode']
  readonly adminToken?: string
  readonly localToken?: string
  readonly failures?: FailureLimiter
  readonly now?: () => number
  readonly internalToken?: string | null
  readonly log?: ServerContext['core']['log']
}

/** An HTTP face of a test server with a door of its own. */
export const withAccess = (server: TestServer, options: AccessOptions = {}): AccessFace => {
  const { core, leases } = server
  const { mode = 'auto', internalToken = INTERNAL_TOKEN, adminToken, localToken, failures, now } = options
  const { host = '127.0.0.1', origins = [], checksHost = true, log = core.log } = options
  const door = createDoor({
    mode,
    database: core.shards.cluster,
    log,
    ...(adminToken === undefined ? {} : { adminToken }),
    ...(localToken === undefined ? {} : { localToken }),
    ...(failures ? { failures } : {}),
    ...(now ? { now } : {}),
  })
  const app = createApp({
    core,
    leases,
    version: '0.0.0-test',
    closing: new AbortController().signal,
    internalToken,
    wallet: createWallet(TEST_KEY, []),
    access: { door, host, origins, checksHost },
  })
  const call: AccessFace['call'] = (who, method, path, { headers = {}, ...rest } = {}) =>
    ask(app, {
      method: method as Method,
      path,
      headers: { ...(who === null ? {} : { authorization: `Bearer ${who}` }), ...headers },
      ...rest,
    })
  return { app, door, call, close: () => app.close() }
}

/** A token of each role, named after it. */
export const tokensOf = async (server: TestServer): Promise<Readonly<Record<Role, string>>> => {
  const { cluster } = server.core.shards
  const made = await Promise.all(
    ROLES.map((role) =>
      createToken(cluster, { name: role, role, expiresInSeconds: null, createdBy: 'test' }),
    ),
  )
  return Object.fromEntries(made.map(({ role, token }) => [role, token])) as Record<Role, string>
}
