/** Against real servers on this machine; a guard of the tests' own forbids some of its addresses and allows others. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { ControlPlane } from '../../../contract/command.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { createSecretProviders } from '../../credentials/providers/providers.ts'
import { createRecipeResolver } from '../../credentials/recipe/resolve-recipe.ts'
import { NO_SECRET_SETTINGS } from '../../credentials/secret-settings.ts'
import { aCall } from '../../test-support.ts'
import { ToolFailure } from '../../tool-failure.ts'
import { createTools } from '../all.ts'
import { createMcpTool } from '../mcp.ts'
import { startMcpServer } from '../mcp/test-support.ts'
import { createAddressGuard } from './address-guard.ts'
import { createGuardedFetch, createOutboundFetch } from './outbound-fetch.ts'

const seen: string[] = []
let server: Server
let port: number
/** What the server does with requests for these paths; others are echoed. */
const habits: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/away': (_request, response) =>
    void response.writeHead(302, { location: `http://127.0.0.2:${port}/inside` }).end(),
  '/around': (_request, response) => void response.writeHead(307, { location: '/echo' }).end(),
  '/elsewhere': (_request, response) =>
    void response.writeHead(307, { location: `http://127.0.0.3:${port}/echo` }).end(),
  '/forever': (_request, response) => void response.writeHead(302, { location: '/forever' }).end(),
  '/none': (_request, response) => void response.writeHead(204).end(),
  '/slow': () => undefined,
}

beforeAll(async () => {
  server = createServer((request, response) => {
    seen.push(`${request.headers.host?.split(':')[0]}${request.url}`)
    const habit = habits[request.url ?? '']
    if (habit !== undefined) return habit(request, response)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ method: request.method, headers: request.headers, body }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const guarded = createGuardedFetch(createAddressGuard((address) => address === '127.0.0.2'))
const at = (path: string, host = '127.0.0.1'): string => `http://${host}:${port}${path}`
const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing',
    (error: unknown) => (error instanceof ToolFailure ? error.error.code : error),
  )

describe('where addresses are checked', () => {
  test('a request goes out as it is described, and its answer comes back', async () => {
    const response = await guarded(at('/echo'), {
      method: 'post',
      headers: { 'x-team': 'a', authorization: 'Bearer t' },
      body: '{"ä":1}',
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(await response.json()).toMatchObject({
      method: 'POST',
      body: '{"ä":1}',
      headers: { 'x-team': 'a', authorization: 'Bearer t', 'accept-encoding': 'identity' },
    })
    expect(await guarded(at('/none'))).toMatchObject({ status: 204, body: null })
  })

  test('a forbidden address is not called, nor by a redirect to it (rule 1)', async () => {
    seen.length = 0
    expect(await failureOf(guarded(at('/echo', '127.0.0.2')))).toBe('ADDRESS_BLOCKED')
    expect(await failureOf(guarded(at('/away')))).toBe('ADDRESS_BLOCKED')
    expect(seen).toEqual(['127.0.0.1/away'])
  })

  test('what the operator has set may be forbidden to others, but not what it redirects to (rule 2)', async () => {
    const strict = createGuardedFetch(createAddressGuard(() => true))
    expect((await strict(at('/around'), { isTrusted: true })).status).toBe(200)
    expect(await failureOf(strict(at('/away'), { isTrusted: true }))).toBe('ADDRESS_BLOCKED')
    expect(await failureOf(strict(at('/around')))).toBe('ADDRESS_BLOCKED')
  })

  test('redirects keep method and body, and leave what proves who we are behind at another origin', async () => {
    const request = { method: 'POST', body: 'x', headers: { authorization: 'Bearer t' } }
    expect(await (await guarded(at('/around'), request)).json()).toMatchObject({
      method: 'POST',
      body: 'x',
      headers: { authorization: 'Bearer t' },
    })
    const elsewhere = (await (await guarded(at('/elsewhere'), request)).json()) as { headers: JsonObject }
    expect(elsewhere.headers['authorization']).toBeUndefined()
    expect(await failureOf(guarded(at('/forever')))).toBe('TOO_MANY_REDIRECTS')
    expect(await failureOf(guarded(at('/around'), { redirect: 'error' }))).toBeInstanceOf(TypeError)
    expect(await failureOf(guarded('file:///etc/passwd'))).toBe('CONFIG')
  })

  test('an abort ends a request, with its reason', async () => {
    const controller = new AbortController()
    const asked = guarded(at('/slow'), { signal: controller.signal })
    controller.abort(new Error('enough'))
    expect(await failureOf(asked)).toEqual(new Error('enough'))
  })
})

test('a whole conversation with an MCP server works where addresses are checked', async () => {
  const mcp = await startMcpServer()
  const tool = createMcpTool({ settings: {}, env: {}, fetch: guarded })
  const call = (name: string, input: JsonObject) =>
    tool.run(aCall({ endpoint: mcp.url, tool: name, arguments: input }))
  expect(await call('add', { a: 2, b: 3 })).toMatchObject({ outcome: 'ok', data: { json: { sum: 5 } } })
  expect(await call('talk', {})).toMatchObject({ outcome: 'ok', data: { json: { said: true } } })
  expect(mcp.sessions.size).toBe(0)
  await mcp.close()
})

describe('a worker that may not call private addresses', () => {
  const outside = createOutboundFetch(false)

  test('does not, whatever the address is written like', async () => {
    seen.length = 0
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]'])
      expect(await failureOf(outside(at('/echo', host)))).toBe('ADDRESS_BLOCKED')
    expect(seen).toEqual([])
  })

  test('keeps every tool to it that fetches by the word of a playbook', async () => {
    seen.length = 0
    const tools = createTools({
      env: process.env,
      python: process.env['NOETL_PYTHON'] ?? null,
      controlPlane: {} as ControlPlane,
      dataDirectory: tmpdir(),
      limits: { allowPrivateAddresses: false },
      surroundings: {
        settings: { NOETL_MCP_OURS_ENDPOINT: at('/echo') },
        containerRuntime: null,
        secrets: { ...NO_SECRET_SETTINGS, allowPrivateAddresses: false },
        pythonMemoryBytes: null,
      },
    })
    const script = { uri: at('/script'), source: { type: 'http' } }
    const vault = { provider: 'vault', path: 'secret/a', auth: { address: at(''), token: 't' } }
    const blocks: readonly (readonly [string, JsonObject])[] = [
      ['http', { url: at('/echo') }],
      ['mcp', { endpoint: at('/echo'), tool: 'add' }],
      ['python', { script }],
      ['shell', { script }],
      ['script', { script }],
      ['postgres', { script, db_host: 'nowhere.invalid' }],
      ['duckdb', { script }],
      ['ducklake', { script }],
      ['transfer', { source: { type: 'http', url: at('/echo') }, target: { type: 'duckdb', table: 't' } }],
      ['secrets', vault],
    ]
    for (const [kind, config] of blocks) {
      const { error } = await tools.get(kind).run(aCall(config))
      expect([kind, error?.code]).toEqual([kind, 'ADDRESS_BLOCKED'])
    }
    expect(seen).toEqual([])
    // The operator's own: what answers is no MCP server, but it was asked.
    await tools.get('mcp').run(aCall({ server: 'ours', tool: 'add' }))
    expect(seen).toEqual(['127.0.0.1/echo'])
    await tools.close()
  })

  test('fetches no tokens for the keychain from there, and secrets from its own Vault only', async () => {
    seen.length = 0
    const settings = {
      ...NO_SECRET_SETTINGS,
      vault: { address: at(''), token: 't', namespace: null },
      allowPrivateAddresses: false,
    }
    const providers = createSecretProviders(settings)
    const resolve = createRecipeResolver({ providers, now: () => 0 })
    const { signal } = new AbortController()
    const address = { name: 'api', catalogId: '1', scope: 'global', executionId: null } as const
    const entry = { kind: 'oauth2', endpoint: at('/token') }
    const made = resolve(
      { address, entry, variables: {}, renew: null },
      { find: () => Promise.resolve(null), signal },
    )
    expect(await failureOf(made)).toBe('ADDRESS_BLOCKED')
    expect(seen).toEqual([])
    const own = providers.get('vault', () => Promise.resolve(null))
    expect(await failureOf(own({ path: 'secret/a', options: {}, signal }))).toBe('SECRET_MALFORMED')
    expect(seen).toEqual(['127.0.0.1/v1/secret/data/a'])
  })
})
