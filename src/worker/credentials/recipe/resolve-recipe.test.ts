import { createVerify, generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import type { Credential } from '../../../contract/command.ts'
import type { Json, JsonObject } from '../../../contract/json.ts'
import type { KeychainRecipe } from '../../../contract/keychain.ts'
import { ToolFailure } from '../../tool-failure.ts'
import { createSecretProviders } from '../providers/providers.ts'
import { readSecretSettings } from '../secret-settings.ts'
import { createRecipeResolver, type MadeEntry } from './resolve-recipe.ts'
import { formOf, startTokenServer, type TokenServer } from './test-support.ts'

let server: TokenServer
beforeAll(async () => {
  server = await startTokenServer()
})
beforeEach(() => server.answer({ body: { access_token: 'tok-123', expires_in: 600, token_type: 'Bearer' } }))
afterAll(() => server.close())

const others: Readonly<Record<string, Json>> = {
  client: { id: 'me', password: 'very-secret-words' },
  plain: { a: 'one', b: 'two' },
}
const find = (alias: string): Promise<Credential | null> =>
  Promise.resolve(
    Object.hasOwn(others, alias) ? { name: alias, type: 'generic', data: others[alias] ?? null } : null,
  )

const resolve = createRecipeResolver({
  providers: createSecretProviders(readSecretSettings({ NOETL_KEYCHAIN_ENV_VARS: 'KEY', KEY: 'from-env' })),
  now: () => 1_700_000_000_000,
})

const make = (entry: JsonObject | null, over: Partial<KeychainRecipe> = {}): Promise<MadeEntry> =>
  resolve(
    {
      address: { name: 'it', catalogId: '7', scope: 'global', executionId: null },
      entry: entry === null ? null : { name: 'it', ...entry },
      variables: {},
      renew: null,
      ...over,
    },
    { find, signal: new AbortController().signal },
  )

const failureOf = async (making: Promise<MadeEntry>): Promise<ToolFailure['error']> => {
  const thrown = await making.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ToolFailure)
  return (thrown as ToolFailure).error
}

describe('what is made each time', () => {
  test('static: values, with templates (rule 1)', async () => {
    const map = { region: 'eu', user: '{{ workload.user }}', both: '{{ keychain.plain.a }}-{{ user }}' }
    expect(await make({ kind: 'static', map }, { variables: { user: 'ada' } })).toEqual({
      type: 'keychain',
      data: { region: 'eu', user: 'ada', both: 'one-ada' },
      keepSeconds: null,
    })
  })

  test('bearer: a token', async () => {
    expect(await make({ kind: 'bearer', token: '{{ keychain.client.password }}' })).toEqual({
      type: 'bearer',
      data: { token: 'very-secret-words' },
      keepSeconds: null,
    })
  })

  test.each(['credential', 'credential_ref'])(
    '%s: a stored credential, its fields picked by map',
    async (kind) => {
      expect(await make({ kind, auth: 'plain' })).toMatchObject({
        type: 'generic',
        data: { a: 'one', b: 'two' },
      })
      expect(await make({ kind, credential: 'plain', map: { first: 'a' } })).toMatchObject({
        data: { first: 'one' },
      })
    },
  )
})

describe('what is fetched', () => {
  test('secret_manager: paths of a provider, kept for their ttl less a minute (rule 2)', async () => {
    expect(await make({ kind: 'secret_manager', provider: 'env', map: { key: 'KEY' } })).toEqual({
      type: 'keychain',
      data: { key: 'from-env' },
      keepSeconds: 3540,
    })
    expect(
      await make({ kind: 'secrets', provider: 'credential', map: { pw: 'client.password' }, ttl: '100s' }),
    ).toMatchObject({
      data: { pw: 'very-secret-words' },
      keepSeconds: 90,
    })
  })

  test('oauth2: a form is posted and the answer kept for as long as it says, less a tenth (rule 2)', async () => {
    const made = await make({
      kind: 'oauth2',
      endpoint: `${server.url}/token`,
      data: {
        grant_type: 'client_credentials',
        client_id: '{{ keychain.client.id }}',
        client_secret: '{{ keychain.client.password }}',
      },
    })
    expect(made).toEqual({
      type: 'keychain',
      data: { access_token: 'tok-123', expires_in: 600, token_type: 'Bearer' },
      keepSeconds: 540,
    })
    const request = server.requests.at(-1)
    expect(request).toMatchObject({
      method: 'POST',
      url: '/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(formOf(request as never)).toEqual({
      grant_type: 'client_credentials',
      client_id: 'me',
      client_secret: 'very-secret-words',
    })
  })

  test('http: any request, and fields of its answer by their paths', async () => {
    server.answer({ body: { auth: { keys: ['k-0', 'k-1'] }, lifetime: 50 } })
    const made = await make({
      kind: 'http',
      endpoint: server.url,
      method: 'get',
      params: { app: 'x' },
      headers: { 'X-Id': '{{ keychain.client.id }}' },
      map: { key: 'auth.keys.1' },
      token_field: 'auth.keys.0',
      ttl_field: 'lifetime',
    })
    expect(made).toEqual({ type: 'keychain', data: { key: 'k-1', access_token: 'k-0' }, keepSeconds: 45 })
    expect(server.requests.at(-1)).toMatchObject({ method: 'GET', url: '/?app=x', headers: { 'x-id': 'me' } })
  })

  test('json goes as JSON', async () => {
    await make({ kind: 'oauth2', endpoint: server.url, json: { a: { b: 1 } } })
    expect(server.requests.at(-1)).toMatchObject({
      body: '{"a":{"b":1}}',
      headers: { 'content-type': 'application/json' },
    })
  })

  test('google_id_token: a signed statement is exchanged for the token', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    server.answer({ body: { id_token: 'id-tok' } })
    const made = await make({
      kind: 'google_id_token',
      service_account_email: 'robot@x.iam',
      service_account_private_key: privateKey,
      target_audience: 'https://service',
      token_uri: `${server.url}/google`,
    })
    expect(made).toEqual({
      type: 'keychain',
      data: { token: 'id-tok', id_token: 'id-tok' },
      keepSeconds: 3540,
    })
    const { grant_type, assertion } = formOf(server.requests.at(-1) as never)
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [head = '', claims = '', signature = ''] = (assertion as string).split('.')
    expect(
      createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url'),
    ).toBe(true)
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      iss: 'robot@x.iam',
      aud: `${server.url}/google`,
      iat: 1_700_000_000,
      exp: 1_700_003_600,
      target_audience: 'https://service',
    })
  })
})

describe('renewal', () => {
  const renewal = () => ({
    config: {
      endpoint: `${server.url}/renew`,
      data: { grant_type: 'refresh_token', refresh_token: '{{ keychain.it.refresh_token }}' },
    },
    data: { access_token: 'old-token', refresh_token: 'fresh-maker' },
  })

  test('goes by its own request, sees the old data, and keeps what is not repeated (rule 3)', async () => {
    const made = await make(null, { renew: renewal() })
    expect(made.data).toMatchObject({ access_token: 'tok-123', refresh_token: 'fresh-maker' })
    expect(formOf(server.requests.at(-1) as never)).toMatchObject({ refresh_token: 'fresh-maker' })
  })

  test('that is refused is replaced by making the entry anew, if the playbook declares it (rule 3)', async () => {
    server.answer({ status: 400, body: { error: 'invalid_grant' } }, { body: { access_token: 'brand-new' } })
    const declared = { kind: 'oauth2', endpoint: `${server.url}/first`, data: { a: 1 } }
    expect((await make(declared, { renew: renewal() })).data).toEqual({ access_token: 'brand-new' })
    server.answer({ status: 400, body: { error: 'invalid_grant' } })
    expect(await failureOf(make(null, { renew: renewal() }))).toMatchObject({
      code: 'HTTP_400',
      retryable: false,
    })
  })

  test('that fails to answer is worth another try and replaced by nothing', async () => {
    server.answer({ status: 503, body: {} })
    const declared = { kind: 'static', map: { a: 1 } }
    expect(await failureOf(make(declared, { renew: renewal() }))).toMatchObject({
      code: 'HTTP_503',
      retryable: true,
    })
  })
})

describe('failures (rule 4)', () => {
  test('name the entry and the reason, and repeat no secret', async () => {
    server.answer({
      status: 401,
      body: { error: 'invalid_client', error_description: 'very-secret-words is wrong' },
    })
    const error = await failureOf(
      make({
        kind: 'oauth2',
        endpoint: `${server.url}/token`,
        data: { s: '{{ keychain.client.password }}' },
      }),
    )
    expect(error).toMatchObject({ kind: 'auth', code: 'HTTP_401', http_status: 401, retryable: false })
    expect(error.message).toBe(
      `The keychain entry 'it' could not be made: HTTP 401 response to ${server.url}/token: invalid_client, [REDACTED] is wrong`,
    )
  })

  test.each<[JsonObject, string]>([
    [{ kind: 'oauth2' }, '`endpoint` is missing'],
    [{ kind: 'oauth2', endpoint: 'ftp://x' }, 'must be an http(s) address'],
    [{ kind: 'frob' }, 'there is no kind "frob"'],
    [{ kind: 'static' }, '`map` must be a mapping'],
    [{ kind: 'bearer' }, '`token` is missing'],
    [{ kind: 'credential', auth: 'nobody' }, "There is no credential 'nobody'"],
    [{ kind: 'credential', auth: 'it' }, "There is no credential 'it'"],
    [{ kind: 'credential', auth: 'plain', map: { x: 'zzz' } }, "has no field 'zzz'"],
    [{ kind: 'secret_manager', provider: 'gcp', map: { a: 'b' } }, 'Google Secret Manager'],
    [{ kind: 'static', map: { a: '{{ start.token }}' } }, "reads 'start'"],
    [{ kind: 'static', map: { a: '{{ keychain.nobody.x }}' } }, "There is no credential 'nobody'"],
    [{ kind: 'google_id_token', target_audience: 'x' }, 'needs `client_email`'],
  ])('%j', async (entry, message) => {
    const error = await failureOf(make(entry))
    expect(error.retryable).toBe(false)
    expect(error.message).toContain("The keychain entry 'it' could not be made: ")
    expect(error.message).toContain(message)
  })

  test('an answer that is no JSON, or has not what is looked for', async () => {
    server.answer({ body: 'hello' })
    expect(await failureOf(make({ kind: 'oauth2', endpoint: server.url }))).toMatchObject({
      code: 'TOKEN_MALFORMED',
    })
    server.answer({ body: { other: 1 } })
    expect(await failureOf(make({ kind: 'http', endpoint: server.url, map: { a: 'x.y' } }))).toMatchObject({
      message: expect.stringContaining("has no 'x.y'") as string,
    })
  })
})
