import { expect, test } from 'vitest'
import { isLoopback, reachableUrl, refuseOpenHost } from './host.ts'

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
  expect(() => refuseOpenHost({ host, insecure: false })).toThrow('--insecure')
  expect(() => refuseOpenHost({ host, insecure: true })).not.toThrow()
})

test('this machine reaches a server on every address by the loopback one', () => {
  expect(reachableUrl('http://0.0.0.0:80')).toBe('http://127.0.0.1:80')
  expect(reachableUrl('http://[::]:80')).toBe('http://[::1]:80')
  expect(reachableUrl('http://10.0.0.1:80')).toBe('http://10.0.0.1:80')
})
