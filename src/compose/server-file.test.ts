import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readServerFile, writeServerFile } from './server-file.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'noetl-server-file-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

const change = (facts: object): void => {
  const file = join(directory, 'server.json')
  writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), ...facts }))
}

test('a server is found until it takes its file back', () => {
  const takeBack = writeServerFile(directory, 'http://127.0.0.1:1', 'up')
  expect(readServerFile(directory)).toMatchObject({ url: 'http://127.0.0.1:1', kind: 'up', pid: process.pid })
  takeBack()
  expect(readServerFile(directory)).toBeNull()
})

test('a file whose process is gone, also when its pid is in use again, counts as absent (2)', () => {
  writeServerFile(directory, 'http://127.0.0.1:1', 'up')
  change({ processStart: 'another boot:1' })
  expect(readServerFile(directory)).toBeNull()
})

test('a file that is not one of ours counts as absent (2)', () => {
  writeFileSync(join(directory, 'server.json'), '{')
  expect(readServerFile(directory)).toBeNull()
})

test('the file of another process is left alone (3)', () => {
  const takeBack = writeServerFile(directory, 'http://127.0.0.1:1', 'up')
  change({ pid: process.ppid, processStart: 'unknown' })
  takeBack()
  expect(readServerFile(directory)?.pid).toBe(process.ppid)
})

test('what lets commands in is in the file, and only its owner can read that (4)', () => {
  const access = { token: 'secret', tls: { pinned: 'pem' } }
  writeServerFile(directory, 'https://127.0.0.1:1', 'up', access)
  expect(readServerFile(directory)?.access).toEqual(access)
  expect(statSync(join(directory, 'server.json')).mode & 0o777).toBe(0o600)
})
