import { describe, expect, it, test } from 'vitest'
import { TOOL_DECLARATIONS } from '../contract/tools/all.ts'
import { advice, codes, diagnostics, find, startStep } from './snippets.suite.ts'

const tool = (fields: string): string => startStep(`tool: {${fields}}`)

describe('a field that the kind does not have (rule 1)', () => {
  it('is a warning with a suggestion, at the key', () => {
    const text = tool('kind: postgres, auth: pg, qury: select 1, query: select 2')
    expect(codes(text)).toEqual([])
    expect(find(text, 'unknown-field')).toMatchObject({
      severity: 'warning',
      message: "Step 'start': a postgres tool has no field 'qury'. Did you mean 'query'?",
      line: 6,
    })
  })

  it('is nothing for kinds that take any, and for words of the language', () => {
    expect(advice(tool('kind: gateway, anything: 1'))).toEqual(['unavailable-kind'])
    expect(
      advice(tool('kind: noop, desc: x, output_select: [a], timeout: 5m, retry: {max_attempts: 2}')),
    ).toEqual([])
  })

  it('may stand below spec, as older playbooks have it', () => {
    expect(advice(tool('kind: http, spec: {url: x, methd: GET}'))).toEqual(['unknown-field'])
  })
})

describe('a literal of the wrong type (rule 2)', () => {
  test.each([
    ['kind: http, url: {a: 1}', 'url must be text, not a mapping'],
    ['kind: http, url: x, headers: [a]', 'headers must be a mapping, not a list'],
    ['kind: http, url: x, verify: perhaps', 'verify must be true or false, not "perhaps"'],
    ['kind: http, url: x, timeout: soon', 'timeout must be seconds or a text such as "30s", not "soon"'],
    ['kind: postgres, query: x, port: many', 'port must be a whole number from 1 on, not "many"'],
    ['kind: duckdb, commands: [{a: 1}]', 'commands must be text or a list of texts, not a list'],
    [
      'kind: transfer, source: {}, target: {}, mode: merge',
      'mode must be one of append, replace, upsert, not "merge"',
    ],
  ])('%s', (fields, message) => {
    const problem = find(tool(fields), 'FIELD_TYPE')
    expect(problem.severity).toBe('error')
    expect(problem.message).toContain(message)
  })

  test.each([
    'kind: http, url: "{{ a }}", headers: "{{ workload.h }}", verify: "{{ ctx.v }}", timeout: "{{ ctx.t }}"',
    'kind: postgres, query: [select 1, "select {{ ctx.n }}"], port: "5432", as_objects: "no"',
    'kind: shell, command: 5, env: {A: 1}, timeout: 1h30m',
    'kind: http, url: x, headers:, verify: ""',
  ])('%s is fine', (fields) => {
    expect(codes(tool(fields))).toEqual([])
  })
})

describe('a kind that our workers do not run, and a field that is missing (rule 3)', () => {
  it('are warnings that say what to do', () => {
    const text = tool('kind: snowflake, query: select 1')
    expect(codes(text)).toEqual([])
    expect(find(text, 'unavailable-kind').message).toMatch(
      /kind 'snowflake' is not part of this worker: it needs .*http/,
    )
    expect(find(tool('kind: http'), 'missing-field').message).toBe(
      "Step 'start': an http tool needs url; for example url: https://example.com/items/{{ workload.id }}",
    )
  })

  test.each([
    'snowflake',
    'snowflake_transfer',
    'gcs',
    'gateway',
    'provider',
    'subscription',
    'wasm',
    'agent',
    'rhai',
  ])('%s', (kind) => {
    expect(advice(tool(`kind: ${kind}`))).toEqual(['unavailable-kind'])
  })
})

describe('the examples of the declarations', () => {
  const expected = (kind: string): boolean => ['workbook', 'task_sequence'].includes(kind)

  test.each(TOOL_DECLARATIONS.flatMap((each) => (expected(each.kind) ? [] : [[each.kind, each] as const])))(
    '%s are valid where they stand',
    (kind, { examples, unavailable }) => {
      for (const example of examples) {
        const text = startStep(`tool: ${JSON.stringify({ kind, ...example })}`)
        const told = diagnostics(text).map(({ code }) => code)
        const names = unavailable === undefined ? [] : ['unavailable-kind']
        expect(told.filter((code) => !['unreachable-step', 'unknown-name'].includes(code))).toEqual(names)
      }
    },
  )
})
