import { expect, test } from 'vitest'
import { isLoopback } from '../lib/loopback.ts'
import { readAccessSettings } from './access-settings.ts'
import { reachableUrl, refuseOpenHost } from './host.ts'
import type { Env } from './settings.ts'

const reach = (host: string, { insecure = false, env = {} }: { insecure?: boolean; env?: Env } = {}) => ({
  host,
  insecure,
  access: readAccessSettings(env),
})

test.each([
  '127.0.0.1',
  '127.1.2.3',
  'localhost',
  'LOCALHOST',
  'a.localhost',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
])('%s is this machine alone', (host) => {
  expect(isLoopback(host)).toBe(true)
})

test.each([
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '::2',
  'fe80::1',
  '1::1',
  '128.0.0.1',
  'localhost.example.com',
  '127.example.com',
  '',
])('%s can be reached by others', (host) => {
  expect(isLoopback(host)).toBe(false)
  expect(() => refuseOpenHost(reach(host), false)).toThrow(/noetl token create .* --insecure/)
  expect(() => refuseOpenHost(reach(host, { insecure: true }), false)).not.toThrow()
})

test('a server that others reach may start with tokens, or when it lets in nobody without one', () => {
  expect(() => refuseOpenHost(reach('0.0.0.0'), true)).not.toThrow()
  const admin = { NOETL_ADMIN_TOKEN: 'x'.repeat(32) }
  expect(() => refuseOpenHost(reach('0.0.0.0', { env: admin }), false)).not.toThrow()
  expect(() => refuseOpenHost(reach('0.0.0.0', { env: { NOETL_AUTH: 'required' } }), false)).not.toThrow()
})

test('whether there are tokens may be looked up later, but that a server is told to be open is known at once', () => {
  expect(() => refuseOpenHost(reach('0.0.0.0'), null)).not.toThrow()
  const open = { NOETL_AUTH: 'open', NOETL_ADMIN_TOKEN: 'x'.repeat(32) }
  expect(() => refuseOpenHost(reach('0.0.0.0', { env: open }), null)).toThrow('NOETL_AUTH=open')
  expect(() => refuseOpenHost(reach('0.0.0.0', { env: open, insecure: true }), null)).not.toThrow()
  expect(() => refuseOpenHost(reach('127.0.0.1', { env: open }), null)).not.toThrow()
})

test('this machine reaches a server on every address by the loopback one', () => {
  expect(reachableUrl('http://0.0.0.0:80')).toBe('http://127.0.0.1:80')
  expect(reachableUrl('http://[::]:80')).toBe('http://[::1]:80')
  expect(reachableUrl('http://10.0.0.1:80')).toBe('http://10.0.0.1:80')
})
