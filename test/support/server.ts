/**
 * A control plane for tests: core, leases, reaper and HTTP face on test databases, without ports and without
 * background services. Several of them may work on the same databases, as in a cluster.
 */
import type { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { createMemoryDispatcher } from '../../src/dispatch/memory.ts'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import { parseJson } from '../../src/lib/exact-json.ts'
import { createSealer } from '../../src/lib/sealer.ts'
import { createSnowflake } from '../../src/lib/snowflake.ts'
import { createApp } from '../../src/server/app.ts'
import type { Core, CoreOptions } from '../../src/server/core.ts'
import { createCore } from '../../src/server/core.ts'
import type { Leases } from '../../src/server/leases.ts'
import type { Metrics } from '../../src/server/metrics/metrics.ts'
import { createLeases } from '../../src/server/leases.ts'
import { createPlaybooks } from '../../src/server/playbooks.ts'
import type { Reaper } from '../../src/server/reaper.ts'
import { createReaper } from '../../src/server/reaper.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database.ts'
import { ensurePartitions } from '../../src/store/partitions.ts'
import { createShards } from '../../src/store/shards.ts'
import { silentLog } from '../../src/worker/log.ts'
import { describeAnswers } from './described-answers.ts'

export const testSealer = createSealer(Buffer.alloc(32, 7))

export interface Response {
  readonly status: number
  /** The JSON body; 64-bit integers are text. */
  readonly body: JsonObject
  /** The body as it was sent. */
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

export interface TestServer {
  readonly core: Core
  readonly leases: Leases
  readonly reaper: Reaper
  readonly databases: readonly Database[]
  /** Text is sent as it is, anything else as JSON. */
  send(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>
  get(path: string): Promise<Response>
  post(path: string, body: unknown): Promise<Response>
  /** Registers a playbook; answers its catalog id. */
  register(yaml: string): Promise<string>
  /** Starts the newest version of a playbook; answers the execution id. */
  execute(path: string, payload?: JsonObject): Promise<string>
  /** Ends streams and long polls, as a stopping server does. */
  stopStreams(): void
  close(): Promise<void>
}

export interface TestServerOptions extends Pick<
  CoreOptions,
  'limits' | 'cachedExecutions' | 'cachedBytes' | 'leaseSeconds' | 'resultBytesAtHand' | 'mirror'
> {
  readonly machineId?: number
  /** Wake-ups that reach other servers; the server closes it. */
  readonly dispatcher?: Dispatcher
  readonly metrics?: Metrics
  readonly rawSql?: boolean
}

let machines = 0

export const startServer = async (
  urls: readonly string[],
  options: TestServerOptions = {},
): Promise<TestServer> => {
  const {
    machineId = (machines += 1) % 1024,
    dispatcher = createMemoryDispatcher(),
    metrics,
    rawSql = false,
    ...coreOptions
  } = options
  const databases = urls.map((url) => openDatabase({ url, maxConnections: 6, onError: () => undefined }))
  for (const database of databases) await ensurePartitions(database, new Date())
  const shards = createShards(databases)
  const core = createCore({
    ...coreOptions,
    shards,
    sealer: testSealer,
    playbooks: createPlaybooks(shards.cluster),
    dispatcher,
    nextId: createSnowflake({ machineId, now: Date.now }),
    now: () => new Date(),
    log: silentLog,
    ...(metrics ? { instruments: metrics.instruments } : {}),
  })
  const leases = createLeases(core)
  const closing = new AbortController()
  const app = createApp({
    core,
    leases,
    version: '0.0.0-test',
    closing: closing.signal,
    rawSql,
    ...(metrics ? { metrics } : {}),
  })
  const answers = describeAnswers(app)

  const send: TestServer['send'] = async (method, path, body, headers = {}) => {
    const payload =
      body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await app.inject({ method, url: path, headers: { ...type, ...headers }, ...payload })
    answers.verify()
    return {
      status: answer.statusCode,
      body: bodyOf(answer.body),
      text: answer.body,
      headers: answer.headers,
    }
  }
  const post: TestServer['post'] = (path, body) => send('POST', path, body)

  return {
    core,
    leases,
    reaper: createReaper(core),
    databases,
    send,
    post,
    get: (path) => send('GET', path),
    register: async (content) =>
      textOf(expectOk(await post('/api/catalog/register', { content }))['catalog_id']),
    execute: async (path, payload = {}) =>
      textOf(expectOk(await post('/api/execute', { path, payload }))['execution_id']),
    stopStreams: () => closing.abort(),
    close: async () => {
      closing.abort()
      await app.close()
      await core.idle()
      await core.dispatcher.close()
      await Promise.all(databases.map((database) => database.end()))
    },
  }
}

/** A scalar of an answer as text. */
export const textOf = (value: Json | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)

const bodyOf = (text: string): JsonObject => {
  try {
    return parseJson(text) as JsonObject
  } catch {
    return {}
  }
}

const expectOk = ({ status, body, text }: Response): JsonObject => {
  if (status !== 200) throw new Error(`the server answered ${status}: ${text}`)
  return body
}
