/** Vault is a real HTTP server that answers in the shape of its API. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Credential } from '../../../contract/command.ts'
import type { Json, JsonObject } from '../../../contract/json.ts'
import { ToolFailure } from '../../tool-failure.ts'
import { NO_SECRET_SETTINGS, readSecretSettings, type SecretSettings } from '../secret-settings.ts'
import { createSecretProviders } from './providers.ts'

const { signal } = new AbortController()

const stored: Readonly<Record<string, Credential>> = {
  shop: { name: 'shop', type: 'bearer', data: { token: 'tok-1' } },
  'a.b': { name: 'a.b', type: 'generic', data: 'whole' },
}

const read = (
  settings: SecretSettings,
  provider: string,
  path: string,
  options: JsonObject = {},
): Promise<Json> =>
  createSecretProviders(settings).get(provider, (alias) => Promise.resolve(stored[alias] ?? null))({
    path,
    options,
    signal,
  })

const failureOf = async (reading: Promise<Json>): Promise<ToolFailure['error']> => {
  const thrown = await reading.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ToolFailure)
  return (thrown as ToolFailure).error
}

describe('env', () => {
  const settings = readSecretSettings({
    NOETL_KEYCHAIN_ENV_VARS: 'SHOP_KEY, OTHER',
    SHOP_KEY: 'k-1',
    HIDDEN: 'h',
  })

  test('gives the variables that are open to playbooks', async () => {
    expect(await read(settings, 'env', 'SHOP_KEY')).toBe('k-1')
  })

  test.each(['HIDDEN', 'OTHER', 'PATH', '__proto__'])('gives nothing else: %s', async (name) => {
    expect(await failureOf(read(settings, 'env', name))).toMatchObject({
      code: 'SECRET_NOT_FOUND',
      message: expect.stringContaining('NOETL_KEYCHAIN_ENV_VARS') as string,
    })
  })
})

describe('file', () => {
  let root: string
  let settings: SecretSettings
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'noetl-secrets-'))
    mkdirSync(join(root, 'open'))
    writeFileSync(join(root, 'open', 'key'), 's3cret-text\n')
    writeFileSync(join(root, 'outside'), 'no')
    symlinkSync(join(root, 'outside'), join(root, 'open', 'link'))
    settings = readSecretSettings({ NOETL_SECRETS_DIR: join(root, 'open') })
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  test('gives the text of a file without its last line end', async () => {
    expect(await read(settings, 'file', 'key')).toBe('s3cret-text')
    expect(await read(settings, 'file', join(root, 'open', 'key'))).toBe('s3cret-text')
  })

  test.each(['../outside', 'link', '/etc/hostname', 'nothing', '.'])(
    'gives nothing outside: %s',
    async (path) => {
      expect(await failureOf(read(settings, 'file', path))).toMatchObject({ code: 'SECRET_NOT_FOUND' })
    },
  )
})

describe('credential', () => {
  test('gives a stored credential or one of its fields', async () => {
    expect(await read(NO_SECRET_SETTINGS, 'credential', 'shop')).toEqual({ token: 'tok-1' })
    expect(await read(NO_SECRET_SETTINGS, 'credential', 'shop.token')).toBe('tok-1')
    expect(await read(NO_SECRET_SETTINGS, 'credential', 'a.b')).toBe('whole')
  })

  test('names what is not there', async () => {
    expect(await failureOf(read(NO_SECRET_SETTINGS, 'credential', 'none.x'))).toMatchObject({
      code: 'CREDENTIAL_NOT_FOUND',
    })
    expect(await failureOf(read(NO_SECRET_SETTINGS, 'credential', 'shop.key'))).toMatchObject({
      code: 'CREDENTIAL_MALFORMED',
    })
  })
})

describe('vault', () => {
  let http: Server
  let address: string
  const asked: string[] = []
  beforeAll(async () => {
    http = createServer(({ url, headers }, response) => {
      asked.push(`${url} ${String(headers['x-vault-namespace'] ?? '-')}`)
      const answer = (status: number, body: Json): void =>
        void response.writeHead(status).end(JSON.stringify(body))
      const secret = (data: JsonObject): void => answer(200, { data: { data, metadata: { version: 3 } } })
      if (headers['x-vault-token'] !== 'root-token') answer(403, { errors: ['permission denied'] })
      else if (url === '/v1/secret/data/shop/db') secret({ user: 'ada', password: 'pw-123456' })
      else if (url === '/v1/secret/data/single?version=2') secret({ value: 'only' })
      else if (url === '/v1/team/kv/data/x') secret({ a: 1 })
      else if (url === '/v1/secret/data/sealed') answer(503, { errors: ['Vault is sealed'] })
      else if (url === '/v1/secret/data/old') answer(200, { data: { password: 'version 1 of the engine' } })
      else answer(404, { errors: [] })
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  })
  afterAll(() => void http.close())

  const settings = () => readSecretSettings({ VAULT_ADDR: `${address}/`, VAULT_TOKEN: 'root-token' })

  test.each<[string, JsonObject, Json]>([
    ['secret/shop/db', {}, { user: 'ada', password: 'pw-123456' }],
    ['secret/data/shop/db', {}, { user: 'ada', password: 'pw-123456' }],
    ['secret/shop/db#password', {}, 'pw-123456'],
    ['secret/shop/db', { field: 'user' }, 'ada'],
    ['single', { mount: 'secret', version: 2 }, 'only'],
    ['x', { mount: 'team/kv' }, { a: 1 }],
  ])('reads %s with %j (rules 1 and 3)', async (path, options, expected) => {
    expect(await read(settings(), 'vault', path, options)).toEqual(expected)
  })

  test('goes by the credential of whoever asks (rule 2)', async () => {
    const auth = { address, token: 'root-token', namespace: 'eu' }
    expect(await read(NO_SECRET_SETTINGS, 'vault', 'secret/shop/db#user', { auth })).toBe('ada')
    expect(asked.at(-1)).toBe('/v1/secret/data/shop/db eu')
  })

  test.each<[string, Partial<ToolFailure['error']>]>([
    ['secret/none', { kind: 'not_found', code: 'SECRET_NOT_FOUND', retryable: false }],
    [
      'secret/shop/db#colour',
      {
        kind: 'not_found',
        message: "The secret secret/shop/db has no field 'colour'. It has: user, password.",
      },
    ],
    ['secret/sealed', { kind: 'server_error', code: 'HTTP_503', retryable: true }],
    ['secret/old', { kind: 'parse', code: 'SECRET_MALFORMED' }],
    ['secret', { kind: 'config' }],
  ])('says what is wrong with %s', async (path, expected) => {
    expect(await failureOf(read(settings(), 'vault', path))).toMatchObject(expected)
  })

  test('a token that is refused is an error of kind auth, and none at all says what to set', async () => {
    const wrong = readSecretSettings({ VAULT_ADDR: address, VAULT_TOKEN: 'wrong' })
    expect(await failureOf(read(wrong, 'vault', 'secret/shop/db'))).toMatchObject({
      kind: 'auth',
      code: 'HTTP_403',
    })
    expect(await failureOf(read(NO_SECRET_SETTINGS, 'vault', 'secret/shop/db'))).toMatchObject({
      kind: 'config',
      message: expect.stringContaining('VAULT_ADDR') as string,
    })
  })
})

test.each(['gcp', 'aws', 'azure', 'k8s'])('%s says what to do instead', (name) => {
  const get = () => createSecretProviders(NO_SECRET_SETTINGS).get(name, () => Promise.resolve(null))
  expect(get).toThrow(/not asked by this worker/)
  try {
    get()
  } catch (error) {
    expect((error as ToolFailure).error).toMatchObject({ code: 'TOOL_UNAVAILABLE', retryable: false })
  }
})

test('a provider that nobody knows is named, with those there are', () => {
  expect(() => createSecretProviders(NO_SECRET_SETTINGS).get('vautl', () => Promise.resolve(null))).toThrow(
    'There is no provider "vautl" of secrets. There are: credential, env, file, vault.',
  )
})
