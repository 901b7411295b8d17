import { expect, test } from 'vitest'
import { strangerProblem } from './own-pages.ts'

const own = { host: '127.0.0.1', origins: [], checksHost: true }
const heard = (method: string, headers: Record<string, string>): boolean =>
  strangerProblem({ method, headers }, own) === null

test('a request without a name is not heard (1)', () => {
  expect(heard('GET', {})).toBe(false)
  expect(heard('GET', { host: '' })).toBe(false)
})

test.each([
  'evil.example',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '0.0.0.0',
  '[::2]:80',
  '127.0.0.1@evil.example',
])('a page that calls this machine %s is not heard (1)', (host) => {
  expect(heard('GET', { host })).toBe(false)
})

test('a page of this server is heard, one on another port is not (2)', () => {
  const host = 'localhost:8082'
  expect(heard('POST', { host, origin: 'http://localhost:8082' })).toBe(true)
  expect(heard('POST', { host, origin: 'http://LOCALHOST:8082' })).toBe(true)
  expect(heard('POST', { host, origin: 'http://localhost:3000' })).toBe(false)
  expect(heard('DELETE', { host, origin: 'null' })).toBe(false)
})

test('what changes nothing is answered; browsers keep the answer from pages of other origins (2)', () => {
  expect(heard('GET', { host: 'localhost', origin: 'https://evil.example' })).toBe(true)
})

test('a program that says nothing about origins is heard', () => {
  expect(heard('POST', { host: '127.0.0.1:8082' })).toBe(true)
})
