/** The folder of examples, its page and its tests are in step. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { formatDiagnostic } from '../src/playbook/diagnostics.ts'
import { parsePlaybook } from '../src/playbook/parse.ts'
import { documentedExamples } from './examples/documented-answers.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const FILES = globSync('examples/**/*.yaml', { cwd: ROOT }).sort()
const nameOf = (file: string): string => file.replace(/^examples\/|\.yaml$/g, '')
const DOCUMENTED = documentedExamples()

test('the page has a line for every example, and no other', () => {
  expect(DOCUMENTED.map(({ file }) => file).sort()).toEqual(FILES)
  for (const { name, file, shows } of DOCUMENTED) {
    expect(nameOf(file)).toBe(name)
    expect(shows).not.toBe('')
  }
})

test('every example is run by a test', () => {
  const tests = globSync('test/{examples,e2e}/*.test.ts', { cwd: ROOT }).map(read).join('\n')
  const isRun = (name: string): boolean =>
    new RegExp(`(?:register|result|run|start)\\('${name}'|^  \\['${name}', `, 'm').test(tests)
  expect(FILES.map(nameOf).filter((name) => !isRun(name))).toEqual([])
})

describe.each(FILES)('%s', (file) => {
  const text = read(file)
  const needs = DOCUMENTED.find((documented) => documented.file === file)?.needs ?? []

  test('is valid, without warnings', () => {
    const parsed = parsePlaybook(text)
    expect((parsed.ok ? parsed.warnings : parsed.problems).map(formatDiagnostic)).toEqual([])
  })

  test('has the path of its file, and begins with what it shows and how it is run', () => {
    expect(text).toMatch(/^# [A-Z]/)
    expect(text).toContain(`\n#   noetl run ${file}`)
    expect(text).toContain(`\n  name: ${nameOf(file)}\n  path: examples/${nameOf(file)}`)
    expect(text).toMatch(/\n {2}description: \S/)
  })

  test('says what it needs, like the page', () => {
    const head = text.slice(0, text.indexOf('apiVersion:'))
    const said = {
      shop: head.includes('shop-api.ts'),
      database: head.includes('examples_db'),
      credential: head.includes('/api/credentials'),
      NATS: head.includes('nats-server'),
      MCP: head.includes('shop-mcp.ts'),
    }
    expect(Object.entries(said).flatMap(([need, isSaid]) => (isSaid ? [need] : []))).toEqual([...needs])
  })
})
