import { expect, test } from 'vitest'

import { readToolSettings } from './tool-settings.ts'
import { toolEnvironment } from './tool-environment.ts'

const ENV = {
  PATH: '/bin',
  LANG: 'C',
  NOETL_ENCRYPTION_KEY: 'k',
  NOETL_KEYCHAIN_ENV_VARS: 'SHOP_KEY OTHER',
  NOETL_MCP_SHOP_ENDPOINT: 'http://shop/mcp',
  NOETL_CONTAINER_RUNTIME: ' podman ',
  NOETL_PYTHON_MEMORY_MB: '512',
  SHOP_KEY: 's',
  VAULT_ADDR: 'http://vault',
  VAULT_TOKEN: 't',
}

test('programs of playbooks see neither our settings nor the secrets of the keychain', () => {
  expect(toolEnvironment(ENV)).toEqual({ PATH: '/bin', LANG: 'C', VAULT_ADDR: 'http://vault' })
})

test('the worker knows what its machine has for tools', () => {
  expect(readToolSettings(ENV).surroundings).toEqual({
    settings: { NOETL_MCP_SHOP_ENDPOINT: 'http://shop/mcp' },
    containerRuntime: 'podman',
    secrets: {
      variables: { SHOP_KEY: 's' },
      directories: ['/run/secrets'],
      vault: { address: 'http://vault', token: 't', namespace: null },
      allowPrivateAddresses: true,
    },
    pythonMemoryBytes: 512 * 1024 * 1024,
  })
  expect(readToolSettings({}).surroundings).toMatchObject({ containerRuntime: null, pythonMemoryBytes: null })
})
