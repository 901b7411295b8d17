import { expect, test } from 'vitest'
import { readToolSettings } from './tool-settings.ts'

test('what is not set is left to the tools', () => {
  expect(readToolSettings({ NOETL_MAX_RESULT_BYTES: '' })).toMatchObject({ limits: {}, maxTaskRuns: null })
})

test('limits come from the environment', () => {
  const env = {
    NOETL_HTTP_ALLOW_PRIVATE_ADDRESSES: 'no',
    NOETL_HTTP_MAX_RESPONSE_BYTES: '1000',
    NOETL_MAX_RESULT_BYTES: '2000',
    NOETL_TASK_SEQUENCE_MAX_ITERATIONS: '30',
  }
  expect(readToolSettings(env)).toMatchObject({
    limits: { allowPrivateAddresses: false, maxResponseBytes: 1000, maxResultBytes: 2000 },
    maxTaskRuns: 30,
    surroundings: { secrets: { allowPrivateAddresses: false } },
  })
})

test.each([
  ['NOETL_HTTP_ALLOW_PRIVATE_ADDRESSES', 'perhaps'],
  ['NOETL_HTTP_MAX_RESPONSE_BYTES', '0'],
  ['NOETL_MAX_RESULT_BYTES', '1.5'],
  ['NOETL_TASK_SEQUENCE_MAX_ITERATIONS', 'many'],
])('%s=%s is refused by name', (name, value) => {
  expect(() => readToolSettings({ [name]: value })).toThrow(name)
})
