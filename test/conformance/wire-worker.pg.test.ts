/** Workers written for another server of this protocol work here unchanged. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSettings } from '../../src/compose/settings.ts'
import type { Stack } from '../../src/compose/stack.ts'
import { startStack } from '../../src/compose/stack.ts'
import { silentLog } from '../../src/worker/log.ts'
import { textOf } from '../support/server.ts'
import type { TestDatabase } from '../support/postgres.ts'
import { createTestDatabase } from '../support/postgres.ts'
import type { Outcome, WireCommand, WireWorker } from '../support/wire-worker.ts'
import { createWireWorker } from '../support/wire-worker.ts'

const TOKEN = 'internal-token'
const dataDir = mkdtempSync(join(tmpdir(), 'noetl-wire-'))
let database: TestDatabase
let stack: Stack
let worker: WireWorker

beforeAll(async () => {
  database = await createTestDatabase()
  const env = {
    NOETL_DATABASE_URL: database.url,
    NOETL_INTERNAL_API_TOKEN: TOKEN,
    NOETL_EVENT_MIRROR_ENABLED: 'true',
    NOETL_LOG_LEVEL: 'silent',
  }
  stack = await startStack({
    ...readSettings({ port: '0', dataDir, slots: '0', examples: false }, env, () => []),
    version: '0.0.0-test',
    log: silentLog,
    toolEnv: {},
  })
  worker = createWireWorker(stack.url, { internalToken: TOKEN })
  await worker.register()
})

afterAll(async () => {
  await stack.stop()
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

const start = async (path: string, steps: string, payload: object = {}): Promise<string> => {
  const content = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: wire, path: ${path} }\nworkflow:\n${steps}`
  const registered = await worker.call('POST', '/api/catalog/register', { content })
  expect(registered.status, registered.text).toBe(200)
  const { status, body, text } = await worker.call('POST', '/api/execute', { path, payload })
  expect(status, text).toBe(200)
  return textOf(body['execution_id'])
}

const statusOf = async (id: string) => (await worker.call('GET', `/api/executions/${id}/status`)).body

const FLOW = `
  - step: start
    tool: { kind: python, code: "result = 1" }
    next: [{ step: large }]
  - step: large
    tool: { kind: http, url: "https://example.org/{{ start.number }}" }
    next:
      arcs:
        - { step: many, when: "{{ large.count == 5000 }}" }
        - { step: never }
  - step: never
    tool: { kind: python, code: "result = 0" }
  - step: many
    loop: { in: "{{ [1, 2, 3] }}", iterator: item, spec: { mode: parallel } }
    tool: { kind: python, code: "result = 2", input: { value: "{{ item }}" } }
    next: [{ step: shaky }]
  - step: shaky
    tool: { kind: postgres, query: "select 1", auth: pg }
    next:
      arcs:
        - { step: repaired, when: "{{ output.status == 'error' }}" }
  - step: repaired
    tool: { kind: python, code: "result = 3", input: { why: "{{ many.results | map(attribute='doubled') | list }}" } }
`

const tool = ({ node_name, context }: WireCommand): Outcome => {
  if (node_name === 'start') return { data: { number: 7 } }
  if (node_name === 'large')
    return {
      data: { count: 5000, rows: Array.from({ length: 5000 }, (_, n) => ({ n, text: 'x'.repeat(40) })) },
    }
  if (node_name === 'many') return { data: { doubled: Number(context.args['value']) * 2 } }
  if (node_name === 'shaky') return { raised: 'connection refused' }
  return { data: context.args }
}

test('an execution is driven to its end over plain HTTP', async () => {
  const id = await start('wire/flow', FLOW)
  const done = await worker.work(tool)
  expect(done).toEqual(['start', 'large', 'many', 'many', 'many', 'shaky', 'repaired'])
  expect(await statusOf(id)).toMatchObject({ status: 'COMPLETED', completed: true, failed: false })
  const { body } = await worker.call('GET', `/api/executions/${id}/result`)
  expect(body).toMatchObject({ status: 'COMPLETED', data: { why: [2, 4, 6] } })
  const { body: large } = await worker.call('GET', `/api/executions/${id}/result?step=large`)
  expect(large['data']).toMatchObject({ count: 5000 })
})

test('a tool that came back with an error fails the execution with its words', async () => {
  const id = await start('wire/error', '  - { step: start, tool: { kind: python, code: "result = 1" } }\n')
  await worker.work(() => ({ error: 'ValueError: no' }))
  expect(await statusOf(id)).toMatchObject({
    status: 'FAILED',
    error: expect.stringContaining('ValueError: no'),
  })
})

describe('claims', () => {
  test('one worker gets the command, others are told that they are late; the same one may ask again', async () => {
    await start('wire/claim', '  - { step: start, tool: { kind: python, code: "result = 1" } }\n')
    const [notification] = await worker.notifications()
    const eventId = textOf(notification?.['event_id'])
    expect(notification).toMatchObject({ step: 'start', server_url: stack.url })
    const first = await worker.claim(eventId)
    expect(first).toMatchObject({
      status: 200,
      command: { node_name: 'start', action: 'python', status: 'ok' },
    })
    expect((await worker.claim(eventId)).status).toBe(200)
    const other = createWireWorker(stack.url, { internalToken: TOKEN })
    expect(await other.claim(eventId)).toMatchObject({
      status: 409,
      error: `Command already claimed by ${worker.id}`,
    })
    await worker.run(first.command, () => ({ data: 1 }))
    expect(await other.claim(eventId)).toMatchObject({
      status: 409,
      error: 'Command already reached terminal state',
    })
    expect(await other.claim('12345')).toMatchObject({
      status: 404,
      error: 'command.issued event not found: 12345',
    })
  })

  test('a command of a cancelled execution is not given out', async () => {
    const id = await start('wire/cancel', '  - { step: start, tool: { kind: python, code: "result = 1" } }\n')
    const [notification] = await worker.notifications()
    await worker.call('POST', `/api/executions/${id}/cancel`, { reason: 'changed my mind' })
    expect(await worker.claim(textOf(notification?.['event_id']))).toMatchObject({ status: 409 })
    expect(await statusOf(id)).toMatchObject({ status: 'CANCELLED', is_cancelled: true })
  })
})

test('a pool is registered, alive, listed and taken back', async () => {
  const own = createWireWorker(stack.url, { internalToken: TOKEN })
  await own.register()
  expect(await own.heartbeat()).toBe(200)
  const { body } = await own.call('GET', `/api/worker/pools?name=${own.id}`)
  expect(body['items']).toMatchObject([{ name: own.id, status: 'ready' }])
  expect(await own.deregister()).toBe(200)
  expect(await own.heartbeat()).toBe(404)
})
