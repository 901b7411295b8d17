import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { processStart } from '../../lib/process-identity.ts'
import { isLocked, lockDirectory } from './lock.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'noetl-lock-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const lockFile = (): string => join(directory, 'noetl.pid')

const abandon = (holder: { pid: number; processStart: string }): void =>
  writeFileSync(lockFile(), JSON.stringify({ ...holder, startedAt: '2026-01-01T00:00:00.000Z' }))

test('a directory in use is refused with the process that uses it', () => {
  lockDirectory(directory)
  expect(() => lockDirectory(directory)).toThrow(
    new RegExp(
      `^Data directory ${directory} is in use by process ${process.pid} \\(started 2\\d{3}-.*Z\\)\\. ` +
        'Stop it, or choose another with --data-dir\\.$',
    ),
  )
})

test('a directory given free can be taken again, and nothing but the lock is ever left in it (1)', () => {
  const first = lockDirectory(directory)
  expect(readdirSync(directory)).toEqual(['noetl.pid'])
  first.release()
  expect(readdirSync(directory)).toEqual([])
  lockDirectory(directory).release()
})

test('a lock whose holder is gone is taken over (2)', () => {
  abandon({ pid: 2 ** 22 + 1, processStart: 'earlier' })
  lockDirectory(directory)
  expect(JSON.parse(readFileSync(lockFile(), 'utf8'))).toMatchObject({ pid: process.pid })
})

test('a lock whose pid belongs to another process by now is taken over (2)', () => {
  abandon({ pid: process.pid, processStart: 'earlier' })
  lockDirectory(directory)
  expect(JSON.parse(readFileSync(lockFile(), 'utf8'))).toMatchObject({
    processStart: processStart(process.pid),
  })
})

test('a lock file that says nothing is taken over (2)', () => {
  writeFileSync(lockFile(), '')
  lockDirectory(directory)
  expect(readdirSync(directory)).toEqual(['noetl.pid'])
})

test('a lock that a competitor is taking over is left to the competitor (3)', () => {
  abandon({ pid: 2 ** 22 + 1, processStart: 'earlier' })
  const competitor = { pid: process.pid, processStart: processStart(process.pid), startedAt: '' }
  writeFileSync(`${lockFile()}.claim`, JSON.stringify(competitor))
  expect(() => lockDirectory(directory)).toThrow(/being started by other processes/)
  expect(readFileSync(lockFile(), 'utf8')).toContain('earlier')
})

test('a claim left by a crash does not hinder (3)', () => {
  abandon({ pid: 2 ** 22 + 1, processStart: 'earlier' })
  writeFileSync(
    `${lockFile()}.claim`,
    JSON.stringify({ pid: 2 ** 22 + 1, processStart: 'earlier', startedAt: '' }),
  )
  lockDirectory(directory)
  expect(readdirSync(directory)).toEqual(['noetl.pid'])
})

test('release leaves the lock of a successor alone (4)', () => {
  const first = lockDirectory(directory)
  abandon({ pid: process.pid, processStart: 'successor' })
  first.release()
  expect(readFileSync(lockFile(), 'utf8')).toContain('successor')
})

test('a directory counts as held while the process that took it runs, and no longer', () => {
  expect(isLocked(directory)).toBe(false)
  const { release } = lockDirectory(directory)
  expect(isLocked(directory)).toBe(true)
  release()
  expect(isLocked(directory)).toBe(false)
  abandon({ pid: process.pid, processStart: 'earlier' })
  expect(isLocked(directory)).toBe(false)
})
