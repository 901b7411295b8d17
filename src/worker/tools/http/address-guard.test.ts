import { expect, test } from 'vitest'

import { aCall } from '../../test-support.ts'
import { createHttpTool } from '../http.ts'
import { isPrivateAddress } from './address-guard.ts'
import { startTestServer } from './test-server.ts'

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  'fd00::1',
  'fe80::1%eth0',
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  'nonsense',
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true)
})

test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
  '%s is public',
  (address) => {
    expect(isPrivateAddress(address)).toBe(false)
  },
)

test('a guarded tool refuses private addresses as literals in every spelling and behind names (rule 1)', async () => {
  const server = await startTestServer()
  const tool = createHttpTool({ allowPrivateAddresses: false })
  const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]']
  for (const host of hosts) {
    const { error } = await tool.run(aCall({ url: `http://${host}:${server.port}/echo` }))
    expect([host, error?.code, error?.retryable]).toEqual([host, 'ADDRESS_BLOCKED', false])
  }
  expect(server.requests.size).toBe(0)
  await tool.close()
  await server.close()
})
