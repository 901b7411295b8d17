/** A test server whose HTTP face has keys and an internal token, as a configured server does. */
import { createWallet } from '../../src/lib/envelope.ts'
import { createApp } from '../../src/server/app.ts'
import type { Metrics } from '../../src/server/metrics/metrics.ts'
import type { HttpFace } from './http-face.ts'
import { createHttpFace } from './http-face.ts'
import type { TestServer } from './server.ts'
import { startServer } from './server.ts'

export const TEST_KEY = Buffer.alloc(32, 7)
export const INTERNAL_TOKEN = 'internal-test-token'

export interface ApiServerOptions {
  /** Null for a server that has none. */
  readonly key?: Buffer | null
  readonly previousKeys?: readonly Buffer[]
  readonly internalToken?: string | null
  readonly metrics?: Metrics
}

/** Another face of a test server, with keys of its own. */
export const withKeys = (
  server: TestServer,
  options: ApiServerOptions = {},
): HttpFace & { close(): Promise<void> } => {
  const { key = TEST_KEY, previousKeys = [], internalToken = INTERNAL_TOKEN, metrics } = options
  const { signal } = new AbortController()
  const { core, leases } = server
  const app = createApp({
    core,
    leases,
    version: '0.0.0-test',
    closing: signal,
    internalToken,
    ...(metrics ? { metrics } : {}),
    ...(key ? { wallet: createWallet(key, previousKeys) } : {}),
  })
  return { ...createHttpFace(app), close: () => app.close() }
}

/** The server across the network, with keys, for as long as the work takes. */
export const overTheNetwork = async <T>(
  { core, leases }: TestServer,
  work: (url: string) => Promise<T>,
): Promise<T> => {
  const app = createApp({
    core,
    leases,
    version: '0.0.0-test',
    closing: new AbortController().signal,
    internalToken: INTERNAL_TOKEN,
    wallet: createWallet(TEST_KEY),
  })
  try {
    return await work(await app.listen({ host: '127.0.0.1', port: 0 }))
  } finally {
    await app.close()
  }
}

/** A server with its HTTP face replaced by one that has keys. */
export const startApiServer = async (
  urls: readonly string[],
  options: ApiServerOptions = {},
): Promise<TestServer> => {
  const server = await startServer(urls)
  const face = withKeys(server, options)
  return {
    ...server,
    ...face,
    close: async () => {
      await face.close()
      await server.close()
    },
  }
}

/** A value of an answer as text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
