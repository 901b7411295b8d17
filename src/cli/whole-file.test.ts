import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { writeWholeFile } from './whole-file.ts'

let directory: string
let output: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'noetl-whole-file-'))
  output = join(directory, 'out')
})
afterEach(() => rmSync(directory, { recursive: true }))

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

/** Gives a piece, then calls back, then waits without end. */
const stuckAfter = async function* (then: () => void): AsyncGenerator<Uint8Array> {
  yield Buffer.from('begun')
  then()
  await new Promise(() => undefined)
}

const write = (bytes: AsyncIterable<Uint8Array>, isWhole = true) =>
  writeWholeFile({ output, bytes, isWhole: () => isWhole })

test('appears under its name when it is whole, and nothing else does (1)', async () => {
  expect(await write(bytesOf('a', 'b'))).toBe('whole')
  expect(readFileSync(output, 'utf8')).toBe('ab')
  expect(readdirSync(directory)).toEqual(['out'])
})

describe('what is not whole leaves nothing behind, and what was there before alone (1)', () => {
  beforeEach(() => writeFileSync(output, 'former'))
  afterEach(() => {
    expect(readdirSync(directory)).toEqual(['out'])
    expect(readFileSync(output, 'utf8')).toBe('former')
  })

  test('when the bytes end too early', async () => {
    expect(await write(bytesOf('a'), false)).toBe('cut')
  })

  test('when the bytes break off', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a')
      throw new Error('the connection broke')
    }
    await expect(write(broken())).rejects.toThrow(/^the connection broke$/)
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('at %s, at once (2)', async (signal) => {
    const listeners = process.listenerCount(signal)
    const writing = write(
      stuckAfter(() => {
        process.emit(signal)
        expect(readdirSync(directory)).toEqual(['out'])
      }),
    )
    expect(await writing).toBe('left')
    expect(process.listenerCount(signal)).toBe(listeners)
  })
})

test('the end of the process takes it away (1)', () => {
  const program = `
    import { readdirSync } from 'node:fs'
    import { writeWholeFile } from ${JSON.stringify(new URL('whole-file.ts', import.meta.url).href)}
    const bytes = async function* () {
      yield Buffer.from('begun')
      process.stdout.write(readdirSync(${JSON.stringify(directory)}).join())
      process.exit(0)
    }
    void writeWholeFile({ output: ${JSON.stringify(output)}, bytes: bytes(), isWhole: () => true })
  `
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(printed).toMatch(/^out\.\d+\.partial$/)
  expect(readdirSync(directory)).toEqual([])
})

describe('what stands at its place (3)', () => {
  test('is written as it is when it is a device', async () => {
    output = '/dev/null'
    expect(await write(bytesOf('a'))).toBe('whole')
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  test('stays a link', async () => {
    const file = join(directory, 'file')
    writeFileSync(file, 'former')
    symlinkSync(file, output)
    expect(await write(bytesOf('new'))).toBe('whole')
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(lstatSync(output).isSymbolicLink()).toBe(true)
  })

  test('is refused when it is a directory, or where nothing can be', async () => {
    mkdirSync(output)
    await expect(write(bytesOf('a'))).rejects.toThrow(`${output} is a directory; name a file in it`)
    output = ''
    await expect(write(bytesOf('a'))).rejects.toThrow('The name of the file to write (--output) is empty')
    output = join(directory, 'no', 'such', 'place')
    await expect(write(bytesOf('a'))).rejects.toThrow(`${output} cannot be written: ENOENT`)
    output = '/dev/null/below'
    await expect(write(bytesOf('a'))).rejects.toThrow('/dev/null/below cannot be written: ENOTDIR')
    expect(existsSync(join(directory, 'no'))).toBe(false)
  })
})
