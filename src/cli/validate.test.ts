import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Style, Terminal } from './terminal.ts'
import { validatePlaybooks } from './validate.ts'

const directory = mkdtempSync(join(tmpdir(), 'noetl-validate-'))
afterAll(() => rmSync(directory, { recursive: true }))

const GOOD =
  'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: a }\nworkflow:\n  - step: start\n    tool: { kind: noop }\n'

const fileOf = (name: string, text: string): string => {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

const plain = new Proxy({}, { get: () => (text: string) => text }) as Style

const createRecorder = () => {
  const out: string[] = []
  const err: string[] = []
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    style: plain,
    errorStyle: plain,
  }
  return { out, err, terminal: terminal as unknown as Terminal }
}

test('says that a valid file is valid', () => {
  const { out, terminal } = createRecorder()
  expect(validatePlaybooks({ files: [fileOf('good.yaml', GOOD)], json: false }, terminal)).toBe(0)
  expect(out.join()).toMatch(/valid .*good.yaml/)
})

test('shows every problem of every file with its place, and fails', () => {
  const { out, err, terminal } = createRecorder()
  const bad = fileOf('bad.yaml', GOOD.replace('{ kind: noop }', '{ kind: nop }').replace('start', 'begin'))
  expect(validatePlaybooks({ files: [fileOf('good.yaml', GOOD), bad], json: false }, terminal)).toBe(2)
  expect(err.join('\n')).toMatch(/bad.yaml:\d+:\d+: error .*noop/)
  expect(out.at(-1)).toMatch(/invalid .*bad.yaml: 2 errors/)
})

test('answers programs in JSON', () => {
  const { out, terminal } = createRecorder()
  const bad = fileOf('broken.yaml', 'a: [')
  expect(validatePlaybooks({ files: [bad], json: true }, terminal)).toBe(2)
  expect(JSON.parse(out.join(''))).toMatchObject([
    { file: bad, valid: false, diagnostics: [{ severity: 'error', line: 1 }] },
  ])
})

test('names a file that cannot be read, and checks the others', () => {
  const files = [join(directory, 'none.yaml'), fileOf('good.yaml', GOOD)]
  const { out, err, terminal } = createRecorder()
  expect(validatePlaybooks({ files, json: false }, terminal)).toBe(2)
  expect(err.join('\n')).toMatch(/^error: .*none.yaml does not exist$/)
  expect(out.join('\n')).toMatch(/^valid .*good.yaml$/)

  const answer = createRecorder()
  expect(validatePlaybooks({ files, json: true }, answer.terminal)).toBe(2)
  expect(JSON.parse(answer.out.join(''))).toMatchObject([
    { valid: false, diagnostics: [{ code: 'FILE' }] },
    { valid: true, diagnostics: [] },
  ])
})

test('a name without its ending is completed in words', () => {
  const { err, terminal } = createRecorder()
  const file = fileOf('good.yaml', GOOD)
  expect(validatePlaybooks({ files: [file.replace('.yaml', '')], json: false }, terminal)).toBe(2)
  expect(err.join('\n')).toContain(`does not exist. Did you mean ${file}?`)
})
