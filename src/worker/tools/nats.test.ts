/** Against a real NATS server. */
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { type NatsServer, startNatsServer } from '../../../test/support/nats-server.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { aCall } from '../test-support.ts'
import { ToolFailure } from '../tool-failure.ts'
import { createNatsTool } from './nats.ts'

const tool = createNatsTool()
let server: NatsServer
let connection: NatsConnection

beforeAll(async () => {
  server = await startNatsServer()
  connection = await connect({ servers: server.url })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'ORDERS', subjects: ['orders.>'] })
  await new Kvm(connection).create('sessions', { history: 5 })
})

afterAll(async () => {
  await tool.close()
  await connection.close()
  await server.stop()
})

const run = (config: JsonObject, signal?: AbortSignal) =>
  tool.run(aCall({ url: server.url, ...config }, signal === undefined ? {} : { signal }))

const dataOf = async (config: JsonObject): Promise<JsonObject> => {
  const { outcome, data, error } = await run(config)
  expect(error).toBeUndefined()
  expect(outcome).toBe('ok')
  return data as JsonObject
}

describe('key/value', () => {
  const at = (operation: string, key: string, more: JsonObject = {}): JsonObject => ({
    operation,
    bucket: 'sessions',
    key,
    ...more,
  })

  test.each<[Json, Json]>([
    [
      { user: 'ada', roles: [1, 2] },
      { user: 'ada', roles: [1, 2] },
    ],
    [
      [1, 'zwei'],
      [1, 'zwei'],
    ],
    ['plain', 'plain'],
    ['12345678901234567890', '12345678901234567890'],
    [5, '5'],
  ])('puts %j and gets %j', async (value, expected) => {
    const put = await dataOf(at('kv_put', 'round', { value }))
    expect(put).toMatchObject({ status: 'success', bucket: 'sessions', key: 'round' })
    expect(await dataOf(at('kv_get', 'round'))).toMatchObject({
      status: 'success',
      value: expected,
      revision: put['revision'],
    })
  })

  test('an encoding says how a value is read: json, base64', async () => {
    await dataOf(at('kv_put', 'number', { value: 5 }))
    expect(await dataOf(at('kv_get', 'number', { encoding: 'json' }))).toMatchObject({ value: 5 })
    await dataOf(at('kv_put', 'bytes', { value: '/wD+', encoding: 'base64' }))
    expect(await dataOf(at('kv_get', 'bytes'))).toMatchObject({ value: '/wD+' })
  })

  test('a key that is not there is not_found and no error (rule 1)', async () => {
    expect(await dataOf(at('kv_get', 'nobody'))).toEqual({
      status: 'not_found',
      bucket: 'sessions',
      key: 'nobody',
      value: null,
    })
  })

  test.each(['kv_delete', 'kv_purge'])('%s takes a key away', async (operation) => {
    await dataOf(at('kv_put', 'gone', { value: 'x' }))
    expect(await dataOf(at(operation, 'gone'))).toMatchObject({ status: 'success' })
    expect(await dataOf(at('kv_get', 'gone'))).toMatchObject({ status: 'not_found' })
  })

  test('lists keys, all or by a pattern', async () => {
    for (const key of ['list.a', 'list.b']) await dataOf(at('kv_put', key, { value: 1 }))
    const { keys, count } = await dataOf({ operation: 'kv_keys', bucket: 'sessions' })
    expect(keys).toEqual(expect.arrayContaining(['list.a', 'list.b']) as unknown)
    expect(count).toBe((keys as Json[]).length)
    expect(await dataOf({ operation: 'kv_keys', bucket: 'sessions', filter: 'list.*' })).toMatchObject({
      keys: ['list.a', 'list.b'],
      count: 2,
    })
  })

  test('a revision guards a write; losing the race is a conflict', async () => {
    const { revision } = await dataOf(at('kv_put', 'guarded', { value: 1 }))
    await dataOf(at('kv_put', 'guarded', { value: 2, revision: revision as number }))
    const lost = await run(at('kv_put', 'guarded', { value: 3, revision: revision as number }))
    expect(lost.error).toMatchObject({ kind: 'client_error', code: 'NATS_WRONG_REVISION', retryable: false })
    const taken = await run(at('kv_put', 'guarded', { value: 3, revision: 0 }))
    expect(taken.error).toMatchObject({ code: 'NATS_WRONG_REVISION' })
  })

  test('a bucket that is not there is an error, unless the call may create it', async () => {
    const missing = await run({ operation: 'kv_put', bucket: 'fresh', key: 'a', value: 1 })
    expect(missing.error).toMatchObject({
      kind: 'not_found',
      code: 'NATS_BUCKET_NOT_FOUND',
      retryable: false,
    })
    await dataOf({ operation: 'kv_put', bucket: 'fresh', key: 'a', value: 1, create: true })
    expect(await dataOf({ operation: 'kv_get', bucket: 'fresh', key: 'a' })).toMatchObject({ value: '1' })
  })
})

describe('objects', () => {
  test('go in and out, are listed and deleted', async () => {
    const at = { bucket: 'files', object: 'report.json' }
    const text = JSON.stringify({ big: 'x'.repeat(300_000) })
    expect(await dataOf({ operation: 'object_put', ...at, data: text, create: true })).toMatchObject({
      status: 'success',
      name: 'report.json',
      size: text.length,
    })
    expect(await dataOf({ operation: 'object_get', ...at, encoding: 'utf-8' })).toMatchObject({
      status: 'success',
      data: text,
      encoding: 'utf-8',
    })
    expect(await dataOf({ operation: 'object_info', ...at })).toMatchObject({ size: text.length })
    expect(await dataOf({ operation: 'object_list', bucket: 'files' })).toMatchObject({
      count: 1,
      objects: [{ name: 'report.json' }],
    })
    expect(await dataOf({ operation: 'object_delete', ...at })).toMatchObject({ status: 'success' })
    for (const operation of ['object_get', 'object_info', 'object_delete']) {
      expect(await dataOf({ operation, ...at })).toMatchObject({ status: 'not_found' })
    }
    expect(await dataOf({ operation: 'object_list', bucket: 'files' })).toMatchObject({ count: 0 })
  })

  test('keep bytes that are no text', async () => {
    const at = { bucket: 'files', object: 'raw' }
    await dataOf({ operation: 'object_put', ...at, data: '/wD+', encoding: 'base64', create: true })
    expect(await dataOf({ operation: 'object_get', ...at })).toMatchObject({
      data: '/wD+',
      encoding: 'base64',
    })
  })

  test('a store that is not there is an error', async () => {
    const { error } = await run({ operation: 'object_get', bucket: 'none', object: 'x' })
    expect(error).toMatchObject({ kind: 'not_found', code: 'NATS_BUCKET_NOT_FOUND' })
  })
})

describe('streams', () => {
  test('publishing is confirmed by the stream, and the same message id is kept once', async () => {
    const message = { operation: 'js_publish', subject: 'orders.new', data: { id: 1 }, msg_id: 'one' }
    const first = await dataOf(message)
    expect(first).toMatchObject({ status: 'success', stream: 'ORDERS', duplicate: false })
    expect(await dataOf(message)).toMatchObject({ sequence: first['sequence'], duplicate: true })
    expect(
      await dataOf({ operation: 'js_get_msg', stream: 'ORDERS', seq: first['sequence'] as number }),
    ).toMatchObject({ status: 'success', subject: 'orders.new', data: { id: 1 } })
    expect(await dataOf({ operation: 'js_get_msg', stream: 'ORDERS', subject: 'orders.new' })).toMatchObject({
      sequence: first['sequence'],
    })
    expect(await dataOf({ operation: 'js_get_msg', stream: 'ORDERS', seq: 9999 })).toMatchObject({
      status: 'not_found',
    })
  })

  test('a durable consumer gets each message once; unacknowledged ones come again (rule 3)', async () => {
    for (const n of [1, 2, 3]) {
      await dataOf({
        operation: 'js_publish',
        subject: 'orders.paid',
        data: { n },
        headers: { trace: `t${n}` },
      })
    }
    const take = { operation: 'js_consume', stream: 'ORDERS', consumer: 'billing', subject: 'orders.paid' }
    expect(await dataOf({ ...take, batch: 2 })).toMatchObject({
      count: 2,
      acked: true,
      messages: [{ data: { n: 1 }, headers: { trace: 't1' } }, { data: { n: 2 } }],
    })
    expect(await dataOf(take)).toMatchObject({ count: 1, messages: [{ data: { n: 3 } }] })
    expect(await dataOf({ ...take, timeout_ms: 50 })).toMatchObject({ count: 0, messages: [] })
  })

  test('without a consumer the stream is read from its beginning', async () => {
    const { messages } = await dataOf({ operation: 'js_consume', stream: 'ORDERS', batch: 1 })
    expect(messages).toMatchObject([{ sequence: 1 }])
  })

  test('tells about the stream', async () => {
    expect(await dataOf({ operation: 'js_stream_info', stream: 'ORDERS' })).toMatchObject({
      status: 'success',
      subjects: ['orders.>'],
      first_sequence: 1,
    })
  })

  test.each(['js_stream_info', 'js_consume', 'js_get_msg'])(
    '%s of no stream is an error',
    async (operation) => {
      const { error } = await run({ operation, stream: 'NONE', seq: 1 })
      expect(error).toMatchObject({ kind: 'not_found', code: 'NATS_STREAM_NOT_FOUND', retryable: false })
    },
  )
})

describe('messages', () => {
  test('are published to whoever listens', async () => {
    const subscription = connection.subscribe('news', { max: 1 })
    await connection.flush()
    await dataOf({ operation: 'publish', subject: 'news', data: { hello: 1 }, headers: { a: 'b' } })
    for await (const message of subscription) {
      expect(message.json()).toEqual({ hello: 1 })
      expect(message.headers?.get('a')).toBe('b')
    }
  })

  test('are requested and answered', async () => {
    connection.subscribe('double', {
      max: 1,
      callback: (_error, message) =>
        void message.respond(JSON.stringify({ n: Number(message.string()) * 2 })),
    })
    await connection.flush()
    expect(await dataOf({ operation: 'request', subject: 'double', data: 21 })).toMatchObject({
      status: 'success',
      data: { n: 42 },
    })
  })

  test('a request that nobody could answer is worth another try', async () => {
    const { error } = await run({ operation: 'request', subject: 'void' })
    expect(error).toMatchObject({ kind: 'connection', code: 'NATS_NO_RESPONDERS', retryable: true })
  })

  test('a request that nobody answers in time is a timeout', async () => {
    const subscription = connection.subscribe('silent')
    await connection.flush()
    const { error } = await run({ operation: 'request', subject: 'silent', timeout_ms: 20 })
    subscription.unsubscribe()
    expect(error).toMatchObject({ kind: 'timeout', retryable: true })
  })

  test('an abort ends the wait at once, with its reason (rule 4)', async () => {
    const subscription = connection.subscribe('slow')
    await connection.flush()
    const controller = new AbortController()
    const running = run({ operation: 'request', subject: 'slow', timeout_ms: 60_000 }, controller.signal)
    await subscription[Symbol.asyncIterator]().next()
    controller.abort(new ToolFailure({ kind: 'timeout', code: 'TIMEOUT', message: 'over', retryable: true }))
    expect(await running).toMatchObject({ outcome: 'error', error: { code: 'TIMEOUT', message: 'over' } })
  })
})

describe('connections', () => {
  test('are shared by calls with the same server and user (rule 2)', async () => {
    const calls = Array.from({ length: 20 }, () => dataOf({ operation: 'kv_keys', bucket: 'sessions' }))
    await Promise.all(calls)
    expect(tool.connectionCount()).toBe(1)
  })

  test('a server that is not there is a matter of the connection', async () => {
    const { error } = await run({ operation: 'publish', subject: 'x', url: 'nats://127.0.0.1:1' })
    expect(error).toMatchObject({ kind: 'connection', code: 'CONN_REFUSED', retryable: true })
    expect(tool.connectionCount()).toBe(1)
  })

  test('a user and password come from the credential, the block or the URL', async () => {
    const guarded = await startNatsServer(['--user', 'ada', '--pass', 'p@ss'])
    const address = guarded.url.slice('nats://'.length)
    const publish = { operation: 'publish', subject: 'x', data: 'y' }
    const ways: JsonObject[] = [
      { url: address, user: 'ada', password: 'p@ss' },
      { url: undefined as never, auth: { type: 'nats', url: address, user: 'ada', password: 'p@ss' } },
      { url: `nats://ada:p%40ss@${address}` },
    ]
    for (const way of ways) expect(await run({ ...publish, ...way })).toMatchObject({ outcome: 'ok' })
    const wrong = await run({ ...publish, url: `nats://ada:wrong-word@${address}` })
    expect(wrong.error).toMatchObject({ kind: 'auth', code: 'NATS_AUTH', retryable: false })
    expect(wrong.error?.message).not.toContain('wrong-word')
    await tool.close()
    await guarded.stop()
  })

  test('a call after the server was away gets a new connection', async () => {
    const other = await startNatsServer()
    const once = { operation: 'publish', subject: 'x', data: 'y', url: other.url }
    expect((await run(once)).outcome).toBe('ok')
    await other.restart()
    await expect.poll(async () => (await run(once)).outcome).toBe('ok')
    await tool.close()
    await other.stop()
  })
})

test.each<[JsonObject, string]>([
  [{}, 'needs `operation`'],
  [{ operation: 'kv_frob' }, 'nats has no operation "kv_frob"'],
  [{ operation: 'kv_get', bucket: 'b' }, 'kv_get needs `key`'],
  [{ operation: 'kv_put', bucket: 'sessions', key: 'k' }, 'kv_put needs `value`'],
  [{ operation: 'kv_get', bucket: 'sessions', key: 'k', encoding: 'latin' }, 'encoding must be'],
  [{ operation: 'kv_get', url: '' }, 'needs `url`'],
])('refuses %j', async (config, message) => {
  const { error } = await run(config)
  expect(error).toMatchObject({ kind: 'config', retryable: false })
  expect(error?.message).toContain(message)
})

test('without its packages a call says what to install (rule 3)', async () => {
  const { createNatsTool: create } = await import('./nats.ts')
  const { toolUnavailable } = await import('./tool-unavailable.ts')
  const bare = create({ load: () => Promise.reject(toolUnavailable('npm install it')) })
  const { error } = await bare.run(aCall({ url: 'nats://x', operation: 'publish', subject: 'x' }))
  expect(error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
})
