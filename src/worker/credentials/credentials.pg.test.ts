/** Secrets through the whole path: stored by HTTP, looked up by the worker, used by real tools, and then nowhere. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { overTheNetwork, startApiServer, TEST_KEY } from '../../../test/support/api-server.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { createRemoteControlPlane } from '../../client/control-plane.ts'
import type { ControlPlane } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import { createWallet } from '../../lib/envelope.ts'
import { createLocalControlPlane } from '../../server/local-control-plane.ts'
import { systemClock } from '../clock.ts'
import { silentLog } from '../log.ts'
import { createTools } from '../tools/all.ts'
import type { ToolRegistry } from '../tools/registry.ts'
import { createWorker } from '../worker.ts'

const KEY = 'hush-hush/4711+0815'
const TOKEN = 'bearer-of-bad-news-42'
/** As bytes in clear, and in the forms in which it could be told. */
const TRACES = [KEY, TOKEN].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1),
])

let database: TestDatabase
let server: TestServer
let tools: ToolRegistry
let web: Server
let webUrl: string
const arrived: string[] = []
const live: string[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  server = await startApiServer([database.url])
  tools = createTools({
    env: process.env,
    python: process.env['NOETL_PYTHON'] ?? null,
    controlPlane: local(),
    dataDirectory: tmpdir(),
  })
  // Tells its callers everything they sent.
  web = createServer((request, response) => {
    arrived.push(String(request.headers['x-key']), String(request.headers.authorization))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ url: request.url, headers: request.headers }))
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
  const { hostname, port, username, password, pathname } = new URL(database.url)
  const store = (name: string, type: string, data: JsonObject) =>
    server.post('/api/credentials', { name, type, data })
  await store('api', 'generic', { key: KEY })
  await store('gate', 'bearer', { token: TOKEN })
  await store('pg_main', 'postgres', {
    db_host: decodeURIComponent(hostname),
    db_port: port === '' ? '5432' : port,
    db_user: decodeURIComponent(username),
    db_password: decodeURIComponent(password),
    db_name: pathname.slice(1),
    note: KEY,
  })
})
afterAll(async () => {
  web.close()
  await tools.close()
  await server.close()
  await database.drop()
})

const runWith = async (
  controlPlane: ControlPlane,
  steps: string,
): Promise<{ id: string; body: JsonObject; text: string }> => {
  const name = `tests/secrets-${server.core.nextId()}`
  await server.register(
    `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: secrets, path: ${name} }\nworkflow:\n${steps}`,
  )
  const worker = createWorker({
    controlPlane,
    tools,
    workerId: `worker-${server.core.nextId()}`,
    pool: 'shared',
    slots: 2,
    log: silentLog,
    clock: systemClock,
    onOutput: (_command, _stream, text) => live.push(text),
  })
  const ended = new Promise<void>((resolve) => {
    server.core.onCommit((state) => {
      if (state.status !== 'RUNNING') resolve()
    })
  })
  worker.start()
  const id = await server.execute(name)
  await ended
  await worker.stop({ graceMs: 1000 })
  return { id, ...(await server.get(`/api/executions/${id}`)) }
}

const local = (): ControlPlane => createLocalControlPlane(server.core, server.leases, createWallet(TEST_KEY))

/** What a binary column holds; it is shown as \x and digits. */
const bytesOf = (value: string): Buffer =>
  /^\\x[0-9a-f]*$/.test(value) ? Buffer.from(value.slice(2), 'hex') : Buffer.alloc(0)

/** Every column of every table that holds one of the texts. */
const placesWith = async (texts: readonly string[]): Promise<readonly string[]> => {
  const [db] = server.databases
  if (db === undefined) throw new Error('there is no database')
  const tables = await db.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const found: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await db.query<{ key: string; value: string }>(
      `select distinct each.key, each.value from ${name} t, jsonb_each_text(to_jsonb(t)) each where each.value is not null`,
    )
    const holding = rows.filter(({ value }) =>
      texts.some((text) => value.includes(text) || bytesOf(value).includes(text)),
    )
    found.push(...holding.map(({ key, value }) => `${name}.${key}: ${value.slice(0, 200)}`))
  }
  return found
}

const STEPS = (url: string): string => `
  - step: start
    tool: { kind: http, url: "${url}/a", params: { k: "{{ keychain.api.key }}" }, headers: { x-key: "{{ keychain.api.key }}" }, auth: gate }
    next: [{ step: code }]
  - step: code
    tool:
      kind: python
      input: { key: "{{ keychain.api.key }}" }
      code: |
        import base64
        print("key is", key)
        result = {"key": key, "encoded": base64.b64encode(("x" + key).encode()).decode(), key: 1}
    next: [{ step: many }]
  - step: many
    tool:
      - ask: { kind: http, url: "${url}/b", headers: { x-key: "{{ keychain.api.key }}" }, auth: gate, set: { ctx.told: "{{ output.data.headers }}" } }
      - sql: { kind: postgres, auth: pg_main, query: "select $1::text as told, current_user as who", params: ["{{ ask.data.headers['x-key'] }}"] }
    next: [{ step: bad }]
  - step: bad
    tool: { kind: python, input: { key: "{{ keychain.api.key }}" }, code: "raise ValueError('cannot use ' + key)" }
`

test('case 112: {{ keychain.api.key }} in a header → real value sent, no secret in any event or command', async () => {
  const { body, text } = await runWith(local(), STEPS(webUrl))
  expect(arrived.splice(0)).toEqual([KEY, `Bearer ${TOKEN}`, KEY, `Bearer ${TOKEN}`])
  expect(body['status']).toBe('FAILED')
  expect(body['error']).toContain('cannot use [REDACTED]')
  expect(TRACES.filter((trace) => text.includes(trace))).toEqual([])
  expect(live.join('')).toContain('key is [REDACTED]')
  expect(TRACES.filter((trace) => live.join('').includes(trace))).toEqual([])
  expect(await placesWith(TRACES)).toEqual([])
  // The search finds what is there.
  expect(await placesWith(['cannot use [REDACTED]'])).not.toEqual([])
})

test('the worker across the network sees the same credentials and hides them as well', async () => {
  const { body } = await overTheNetwork(server, (url) =>
    runWith(createRemoteControlPlane(url), STEPS(webUrl)),
  )
  expect(arrived.splice(0)).toEqual([KEY, `Bearer ${TOKEN}`, KEY, `Bearer ${TOKEN}`])
  expect(body['error']).toContain('cannot use [REDACTED]')
  expect(await placesWith(TRACES)).toEqual([])
})

test('a postgres credential opens the database, and its result is masked like any other', async () => {
  const { body, text } = await runWith(
    local(),
    `
  - step: start
    tool: { kind: postgres, auth: pg_main, query: "select 1 as one, current_database() as name" }
    next: [{ step: end }]
  - step: end
    tool: { kind: noop, result: "{{ start.rows[0] }}" }`,
  )
  expect(body['status']).toBe('COMPLETED')
  expect(text).toContain(new URL(database.url).pathname.slice(1))
})

test('a wrong password is not told in the error', async () => {
  const wrong = 'wrong-password-99'
  const { hostname, port, pathname } = new URL(database.url)
  const data = {
    host: decodeURIComponent(hostname),
    port: port === '' ? 5432 : Number(port),
    user: 'nobody_here',
    password: wrong,
    database: pathname.slice(1),
  }
  await server.post('/api/credentials', { name: 'pg_bad', type: 'postgres', data })
  const { body, text } = await runWith(
    local(),
    '  - { step: start, tool: { kind: postgres, auth: pg_bad, query: "select 1" } }',
  )
  expect(body['status']).toBe('FAILED')
  expect(text).not.toContain(wrong)
  expect(await placesWith([wrong])).toEqual([])
})

test.each(['auth: no_such_alias', 'headers: { x-key: "{{ keychain.no_such_alias.key }}" }'])(
  'case 101: Unknown credential alias → FAILED immediately, message names the alias (%s)',
  async (field) => {
    const { body } = await runWith(
      local(),
      `  - { step: start, tool: { kind: http, url: "${webUrl}/c", ${field} } }`,
    )
    expect(body['status']).toBe('FAILED')
    expect(body['error']).toContain('no_such_alias')
    expect(arrived).toEqual([])
  },
)
