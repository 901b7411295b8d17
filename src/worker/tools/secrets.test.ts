import { expect, test } from 'vitest'

import type { Credential } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { KeychainEntry, KeychainRecipe } from '../../contract/keychain.ts'
import { NO_SECRET_SETTINGS } from '../credentials/secret-settings.ts'
import { aCall } from '../test-support.ts'
import { createSecretsTool } from './secrets.ts'

const stored: Readonly<Record<string, Credential>> = {
  shop: { name: 'shop', type: 'bearer', data: { token: 'tok-1', region: 'eu' } },
}

const bench = () => {
  const kept: KeychainEntry[] = []
  const recipe: KeychainRecipe = {
    address: { name: 'made', catalogId: '77', scope: 'global', executionId: null },
    entry: { name: 'made', kind: 'static', map: { key: '{{ keychain.shop.token }}!' } },
    variables: {},
    renew: null,
  }
  const tool = createSecretsTool({
    settings: { ...NO_SECRET_SETTINGS, variables: { KEY: 'from-env' } },
    controlPlane: {
      credential: ({ alias }) => Promise.resolve(stored[alias] ?? null),
      keychainRecipe: ({ alias }) => Promise.resolve(alias === 'made' ? recipe : null),
      keepKeychain: ({ entry }) => Promise.resolve(void kept.push(entry)),
    },
  })
  return { kept, run: (config: JsonObject) => tool.run(aCall(config)) }
}

test.each<[JsonObject, JsonObject]>([
  [{ path: 'shop.token' }, { provider: 'credential', secret: 'tok-1' }],
  [
    { provider: 'ENV', secret: 'KEY' },
    { provider: 'env', secret: 'from-env' },
  ],
  [{ map: { a: 'shop.token', b: 'shop.region' } }, { secret: { a: 'tok-1', b: 'eu' } }],
  [{ path: 'made.key' }, { secret: 'tok-1!' }],
])('%j gives the value under a name that is sealed (rules 1 and 3)', async (config, data) => {
  expect(await bench().run(config)).toMatchObject({ outcome: 'ok', data: { status: 'success', ...data } })
})

test('with a name for the keychain it keeps the secret for the run and tells no value (rule 2)', async () => {
  const { run, kept } = bench()
  const result = await run({ map: { a: 'shop.token' }, keychain: 'mine', ttl: '5m' })
  expect(result.data).toEqual({ status: 'success', provider: 'credential', keychain: 'mine', fields: ['a'] })
  const address = { name: 'mine', catalogId: '77', scope: 'local', executionId: '1000' }
  expect(kept).toEqual([{ address, data: { a: 'tok-1' }, expiresInSeconds: 300, renewConfig: null }])
  await run({ provider: 'env', path: 'KEY', keychain: 'word' })
  expect(kept[1]).toMatchObject({ data: { value: 'from-env' }, expiresInSeconds: 3600 })
})

test.each<[JsonObject, string, string]>([
  [{}, 'config', 'needs `path`'],
  [{ map: ['a'] }, 'config', 'map must be'],
  [{ provider: 'vualt', path: 'x' }, 'config', 'no provider "vualt"'],
  [{ provider: 'aws', path: 'x' }, 'config', 'AWS Secrets Manager'],
  [{ path: 'nobody' }, 'auth', "no credential 'nobody'"],
  [{ provider: 'env', path: 'HOME' }, 'not_found', 'NOETL_KEYCHAIN_ENV_VARS'],
])('%j is an error of kind %s', async (config, kind, message) => {
  const { error } = await bench().run(config)
  expect(error).toMatchObject({ kind, retryable: false })
  expect(error?.message).toContain(message)
})
