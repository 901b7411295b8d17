import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeDirectory } from './make-directory.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'noetl-make-'))
})
afterEach(() => rmSync(parent, { recursive: true }))

test('directories above it are made as well, for this user alone', () => {
  const path = join(parent, 'a', 'b')
  expect(makeDirectory(path)).toBe(path)
  expect(statSync(join(parent, 'a')).mode & 0o777).toBe(0o700)
  expect(statSync(path).mode & 0o777).toBe(0o700)
})

test('one that exists is left as it is, also behind a link', () => {
  const link = join(parent, 'link')
  symlinkSync(parent, link)
  expect(makeDirectory(link)).toBe(link)
  makeDirectory(join(link, 'inside'))
  expect(existsSync(join(parent, 'inside'))).toBe(true)
})

test.runIf(existsSync('/proc/self'))(
  'a place that takes no directories is an error that names it (1)',
  () => {
    expect(() => makeDirectory('/proc/foo/bar')).toThrow(
      'Data directory /proc/foo/bar cannot be made: /proc takes no directories. Choose another with --data-dir.',
    )
  },
)

test('a file in the way is an error that names it (1)', () => {
  const file = join(parent, 'file')
  writeFileSync(file, '')
  expect(() => makeDirectory(join(file, 'data'))).toThrow(`${file} is not a directory`)
})

test('a link to nowhere in the way is an error (1)', () => {
  const link = join(parent, 'link')
  symlinkSync(join(parent, 'nowhere'), link)
  expect(() => makeDirectory(link)).toThrow(`Data directory ${link} cannot be made: `)
})
