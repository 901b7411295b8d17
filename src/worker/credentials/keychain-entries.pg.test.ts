/** Entries of the `keychain` block through the whole path: declared, made by the worker, kept sealed, renewed, used, hidden. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

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
import { createCredentialSource } from './credential-source.ts'
import { createSecretProviders } from './providers/providers.ts'
import { createRecipeResolver } from './recipe/resolve-recipe.ts'
import { readSecretSettings } from './secret-settings.ts'

const CLIENT_SECRET = 'client-secret-of-ours-77'
const ENV_SECRET = 'secret-of-the-environment'
const secrets = readSecretSettings({ NOETL_KEYCHAIN_ENV_VARS: 'SHOP_KEY', SHOP_KEY: ENV_SECRET })

let database: TestDatabase
let server: TestServer
let tools: ToolRegistry
let web: Server
let webUrl: string
/** Tokens that were given, in order, and authorizations that arrived. */
const given: string[] = []
const arrived: string[] = []
const forms: string[] = []
/** Tokens that the shop does not take any more. */
const revoked = new Set<string>()

const startWeb = async (): Promise<void> => {
  web = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.setHeader('content-type', 'application/json')
      if (request.url === '/token') {
        forms.push(Buffer.concat(chunks).toString())
        given.push(`token-number-${given.length + 1}`)
        response.end(
          JSON.stringify({
            access_token: given.at(-1),
            refresh_token: 'refresh-me-please',
            expires_in: 3600,
          }),
        )
        return
      }
      const authorization = String(request.headers.authorization ?? request.headers['x-key'])
      arrived.push(authorization)
      response.statusCode = revoked.has(authorization) ? 401 : 200
      response.end(JSON.stringify({ told: authorization }))
    })
  })
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
}

beforeAll(async () => {
  database = await createTestDatabase()
  server = await startApiServer([database.url])
  const surroundings = { settings: {}, containerRuntime: null, secrets, pythonMemoryBytes: null }
  tools = createTools({ env: {}, python: null, controlPlane: local(), dataDirectory: tmpdir(), surroundings })
  await startWeb()
  const client = { name: 'shop_client', type: 'generic', data: { id: 'us', secret: CLIENT_SECRET } }
  await server.post('/api/credentials', client)
})
beforeEach(() => {
  for (const list of [given, arrived, forms]) list.length = 0
  revoked.clear()
})
afterAll(async () => {
  web.close()
  await tools.close()
  await server.close()
  await database.drop()
})

const local = (): ControlPlane => createLocalControlPlane(server.core, server.leases, createWallet(TEST_KEY))

const register = async (keychain: string, steps: string): Promise<string> => {
  const name = `tests/keychain-${server.core.nextId()}`
  const head = `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: keychain, path: ${name} }\n`
  await server.register(`${head}workload: { shop: main }\nkeychain:\n${keychain}\nworkflow:\n${steps}`)
  return name
}

const run = async (
  name: string,
  { controlPlane = local(), payload = {} }: { controlPlane?: ControlPlane; payload?: JsonObject } = {},
): Promise<{ id: string; body: JsonObject; text: string }> => {
  const worker = createWorker({
    controlPlane,
    tools,
    workerId: `worker-${server.core.nextId()}`,
    pool: 'shared',
    slots: 2,
    log: silentLog,
    clock: systemClock,
    secrets,
  })
  const ended = new Promise<void>((resolve) => {
    server.core.onCommit((state) => {
      if (state.status !== 'RUNNING') resolve()
    })
  })
  worker.start()
  const id = await server.execute(name, payload)
  await ended
  await worker.stop({ graceMs: 1000 })
  return { id, ...(await server.get(`/api/executions/${id}`)) }
}

/** What is stored of all entries of a name, as it stands in the table. */
const entriesOf = async (name: string) => {
  const [db] = server.databases
  const { rows } = await (db as NonNullable<typeof db>).query<{
    scope_type: string
    execution_id: string | null
    data: string
  }>(
    'select scope_type, execution_id, data_encrypted::text as data from noetl.keychain where keychain_name = $1 order by created_at',
    [name],
  )
  return rows
}

const expire = async (name: string): Promise<void> => {
  const [db] = server.databases
  await db?.query(
    "update noetl.keychain set expires_at = now() - interval '1 second' where keychain_name = $1",
    [name],
  )
}

const OAUTH = (name: string): string => `
  - name: ${name}
    kind: oauth2
    endpoint: ${webUrl}/token
    data: { grant_type: client_credentials, client_id: "{{ keychain.shop_client.id }}", client_secret: "{{ keychain.shop_client.secret }}" }`

const CALL = (name: string, more = ''): string => `
  - step: start
    tool: { kind: http, url: "${webUrl}/orders", auth: ${name}${more} }
    next: [{ step: again }]
  - step: again
    tool: { kind: http, url: "${webUrl}/orders", headers: { x-key: "{{ keychain.${name}.access_token }}" } }`

describe('a token', () => {
  test('is fetched once, used by every step and every run, and stored sealed', async () => {
    const name = await register(OAUTH('once'), CALL('once'))
    const first = await run(name)
    expect(first.body['status']).toBe('COMPLETED')
    await run(name)
    expect(given).toEqual(['token-number-1'])
    expect(arrived).toEqual(
      Array.from({ length: 2 }, () => ['Bearer token-number-1', 'token-number-1']).flat(),
    )
    expect(forms).toEqual([`grant_type=client_credentials&client_id=us&client_secret=${CLIENT_SECRET}`])
    const [entry, ...more] = await entriesOf('once')
    expect(entry).toMatchObject({ scope_type: 'global', execution_id: null })
    expect(entry?.data).not.toContain('token-number')
    expect(more).toEqual([])
    for (const secret of ['token-number-1', CLIENT_SECRET]) expect(first.text).not.toContain(secret)
  })

  test('that ran out is fetched anew', async () => {
    const name = await register(OAUTH('short'), CALL('short'))
    await run(name)
    await expire('short')
    await run(name)
    expect(given).toHaveLength(2)
    expect(arrived.at(-1)).toBe('token-number-2')
  })

  test('that is refused is made anew for the next try of the policy', async () => {
    const policy =
      ', spec: { policy: { rules: [{ when: "{{ output.error.kind == \'auth\' }}", then: { do: retry, attempts: 2, delay: 0 } }] } }'
    const name = await register(OAUTH('revoked'), CALL('revoked', policy))
    await run(name)
    revoked.add('Bearer token-number-1')
    const { body } = await run(name)
    expect(body['status']).toBe('COMPLETED')
    expect(given).toHaveLength(2)
    expect(arrived.slice(-3)).toEqual(['Bearer token-number-1', 'Bearer token-number-2', 'token-number-2'])
  })

  test('is made by a worker across the network in the same way', async () => {
    const name = await register(OAUTH('remote'), CALL('remote'))
    const { body } = await overTheNetwork(server, async (url) => {
      const first = await run(name, { controlPlane: createRemoteControlPlane(url) })
      await run(name, { controlPlane: createRemoteControlPlane(url) })
      return first
    })
    expect(body['status']).toBe('COMPLETED')
    expect(given).toHaveLength(1)
    expect(await entriesOf('remote')).toHaveLength(1)
  })

  test('that came through the API renews itself by its own request', async () => {
    const name = await register('  - { name: other, kind: static, map: { a: b } }', CALL('handed'))
    const catalogId = await catalogIdOf(name)
    const renew_config = {
      endpoint: `${webUrl}/token`,
      data: { grant_type: 'refresh_token', refresh_token: '{{ keychain.handed.refresh_token }}' },
    }
    await server.post(`/api/keychain/${catalogId}/handed`, {
      data: { access_token: 'old-one', refresh_token: 'first-refresh-token' },
      auto_renew: true,
      renew_config,
      expires_in: 100,
    })
    await run(name)
    expect(arrived.at(-1)).toBe('old-one')
    await expire('handed')
    await run(name)
    expect(forms).toEqual(['grant_type=refresh_token&refresh_token=first-refresh-token'])
    expect(arrived.at(-1)).toBe('token-number-1')
    await expire('handed')
    await run(name)
    expect(forms.at(-1)).toBe('grant_type=refresh_token&refresh_token=refresh-me-please')
  })
})

const catalogIdOf = async (path: string): Promise<string> => {
  const [db] = server.databases
  const { rows } = await (db as NonNullable<typeof db>).query<{ id: string }>(
    'select catalog_id::text as id from noetl.catalog where path = $1',
    [path],
  )
  return rows[0]?.id ?? ''
}

const TELL = (name: string, field: string): string => `
  - step: start
    tool: { kind: http, url: "${webUrl}/x", headers: { x-key: "{{ keychain.${name}.${field} }}" } }`

describe('other entries', () => {
  test('read the workload, and then belong to the run', async () => {
    const name = await register(
      '  - { name: mine, kind: static, map: { key: "key-of-{{ workload.shop }}" } }',
      TELL('mine', 'key'),
    )
    await run(name, { payload: { shop: 'north' } })
    await run(name, { payload: { shop: 'south' } })
    expect(arrived).toEqual(['key-of-north', 'key-of-south'])
  })

  test('come from the environment of the worker, and are kept for their run alone where they say so', async () => {
    const entry =
      '  - { name: fromenv, kind: secret_manager, provider: env, scope: local, map: { key: SHOP_KEY } }'
    const { id, body, text } = await run(await register(entry, TELL('fromenv', 'key')))
    expect(body['status']).toBe('COMPLETED')
    expect(arrived).toEqual([ENV_SECRET])
    expect(text).not.toContain(ENV_SECRET)
    expect(await entriesOf('fromenv')).toMatchObject([{ scope_type: 'local', execution_id: id }])
  })

  test.each([
    ['{ name: bad, kind: secret_manager, provider: gcp, map: { key: a } }', 'Google Secret Manager'],
    ['{ name: bad, kind: credential, credential: nobody }', "There is no credential 'nobody'"],
    ['{ name: bad, kind: frob }', 'there is no kind "frob"'],
  ])('that cannot be made fail the step and say why: %s', async (entry, message) => {
    const { body } = await run(await register(`  - ${entry}`, TELL('bad', 'key')))
    expect(body['status']).toBe('FAILED')
    expect(body['error']).toContain("keychain entry 'bad'")
    expect(body['error']).toContain(message)
    expect(arrived).toEqual([])
  })
})

describe('the tool secrets', () => {
  test('puts a secret into the keychain of the run; its value is in no answer and no row in clear', async () => {
    const name = await register(
      '',
      `
  - step: start
    tool: { kind: secrets, provider: env, map: { key: SHOP_KEY }, keychain: fetched }
    next: [{ step: use }]
  - step: use
    tool: { kind: http, url: "${webUrl}/x", headers: { x-key: "{{ keychain.fetched.key }}" } }`,
    )
    const { id, text, body } = await run(name)
    expect(body['status']).toBe('COMPLETED')
    expect(arrived).toEqual([ENV_SECRET])
    expect(text).not.toContain(ENV_SECRET)
    const { body: result } = await server.get(`/api/executions/${id}/result?step=start`)
    expect(result['data']).toEqual({
      status: 'success',
      provider: 'env',
      keychain: 'fetched',
      fields: ['key'],
    })
  })

  test('gives the value to templates, sealed in the log, when no name is given', async () => {
    const name = await register(
      '',
      `
  - step: start
    tool: { kind: secrets, provider: credential, path: shop_client.secret }
    next: [{ step: use }]
  - step: use
    tool: { kind: noop, result: "{{ start.secret | length }}" }`,
    )
    const { id, text } = await run(name)
    expect(text).not.toContain(CLIENT_SECRET)
    const { body } = await server.get(`/api/executions/${id}/result`)
    expect(body['data']).toBe(CLIENT_SECRET.length)
  })
})

test('workers that need the same token at once fetch it once, over the network and beside the server', async () => {
  const name = await register(
    `  - { name: one_for_all, kind: oauth2, scope: global, endpoint: "${webUrl}/token", data: { grant_type: x } }`,
    '  - { step: start, tool: { kind: noop } }',
  )
  const id = await server.execute(name)
  const { signal } = new AbortController()
  const resolve = createRecipeResolver({ providers: createSecretProviders(secrets), now: () => Date.now() })
  await overTheNetwork(server, async (url) => {
    const remote = () => createRemoteControlPlane(url)
    const sources = [local(), remote(), local(), remote(), remote()].map((controlPlane) =>
      createCredentialSource({ controlPlane, clock: systemClock, resolve }),
    )
    const found = await Promise.all(sources.map((source) => source.find(id, 'one_for_all', signal)))
    for (const each of found) expect(each?.data).toMatchObject({ access_token: 'token-number-1' })
  })
  expect(given).toEqual(['token-number-1'])
})
