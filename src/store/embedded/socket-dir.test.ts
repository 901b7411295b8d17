import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chooseSocketDirectory, prepareSocketDirectory } from './socket-dir.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'noetl-socket-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('the socket lies in the data directory, closed to others (1)', () => {
  const prepared = prepareSocketDirectory(directory, null)
  expect(prepared).toEqual({ path: join(directory, 'socket'), outside: false })
  expect(statSync(prepared.path).mode & 0o777).toBe(0o700)
  expect(prepareSocketDirectory(directory, null)).toEqual(prepared)
})

test('a path too long for a socket moves it to a short one, the same every time (2)', () => {
  const long = join(directory, 'x'.repeat(100))
  const chosen = chooseSocketDirectory(long)
  expect(chosen.outside).toBe(true)
  expect(Buffer.byteLength(join(chosen.path, '.s.PGSQL.5432'))).toBeLessThanOrEqual(103)
  expect(chooseSocketDirectory(long)).toEqual(chosen)
  expect(chooseSocketDirectory(`${long}y`).path).not.toBe(chosen.path)
})

test('length is counted in bytes (2)', () => {
  expect(chooseSocketDirectory(`/${'a'.repeat(50)}`).outside).toBe(false)
  expect(chooseSocketDirectory(`/${'ä'.repeat(50)}`).outside).toBe(true)
})

test('a directory that others can enter is refused (3)', () => {
  mkdirSync(join(directory, 'socket'))
  chmodSync(join(directory, 'socket'), 0o755)
  expect(() => prepareSocketDirectory(directory, null)).toThrow(/another user made it or can enter it/)
  expect(existsSync(join(directory, 'socket', '.s.PGSQL.5432'))).toBe(false)
})
