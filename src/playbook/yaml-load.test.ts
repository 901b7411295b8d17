import { describe, expect, it } from 'vitest'
import { HEADER, codes, diagnostics, find, firstTask, start, startStep, valid } from './snippets.suite.ts'
import { parsePlaybook } from './parse.ts'

const BASE = `${HEADER}workflow: [ {step: start} ]\n`
const workload = (text: string) => valid(`${BASE}workload:\n${text.replace(/^/gm, '  ')}\n`).workload

describe('YAML', () => {
  it('1: follows the 1.2 core schema', () => {
    expect(workload('a: yes\nb: on\nc: true\nd: ~\ne:\nf: 0x1F\ng: 0o17\nh: 1e3\ni: "1"\nj: 012')).toEqual({
      a: 'yes',
      b: 'on',
      c: true,
      d: null,
      e: null,
      f: 31,
      g: 15,
      h: 1000,
      i: '1',
      j: 12,
    })
  })

  it('1: reads JSON, which is YAML', () => {
    const text =
      '{"apiVersion":"noetl.io/v2","kind":"Playbook","metadata":{"name":"j"},"workflow":[{"step":"start"}]}'
    expect(valid(text).name).toBe('j')
  })

  it('keeps integers exact: what a double cannot hold is text', () => {
    expect(workload('a: 9007199254740991\nb: 9007199254740993\nc: -123456789012345678901\nd: .inf')).toEqual({
      a: 9007199254740991,
      b: '9007199254740993',
      c: '-123456789012345678901',
      d: '.inf',
    })
  })

  it('2: takes exactly one document', () => {
    expect(parsePlaybook(`${BASE}---\n${BASE}`)).toMatchObject({
      ok: false,
      kind: 'invalid',
      problems: [{ line: 5 }],
    })
  })

  it('keys: sees a duplicate in spite of other spellings of the key', () => {
    expect(codes(`${BASE}workload: { 1: a, "1": b }\n`)).toEqual(['DUPLICATE_KEY'])
  })

  it('merge: applies merge keys under what is written beside them', () => {
    const text =
      'x: &x { a: 1, b: 1 }\ny: &y { b: 2, c: 2 }\nz:\n  a: 9\n  <<: [*x, *y]\n  d: 4\nq: { "<<": 5 }'
    expect(workload(text)).toEqual({
      x: { a: 1, b: 1 },
      y: { b: 2, c: 2 },
      z: { a: 9, b: 1, c: 2, d: 4 },
      q: { '<<': 5 },
    })
    expect(codes(`${BASE}workload: { <<: 5 }\n`)).toEqual(['PARSE'])
  })

  it('limits: refuses aliases that multiply without end', () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const refs = Array.from({ length: 10 }, () => `*l${level}`).join(', ')
      return `l${level + 1}: &l${level + 1} [${refs}]`
    })
    const text = `${BASE}workload:\n  l0: &l0 [x]\n  ${levels.join('\n  ')}\n`
    expect(find(text, 'PARSE').message).toContain('Aliases add')
  })

  it('limits: refuses an alias inside its own anchor, and one without an anchor', () => {
    expect(codes(`${BASE}workload: { a: &a [*a] }\n`)).toEqual(['PARSE'])
    expect(parsePlaybook(`${BASE}workload: { a: *nobody }\n`).ok).toBe(false)
  })

  it('limits: refuses absurd nesting', () => {
    expect(parsePlaybook(`${BASE}workload: { a: ${'['.repeat(300)}${']'.repeat(300)} }\n`).ok).toBe(false)
    expect(parsePlaybook('['.repeat(100_000)).ok).toBe(false)
  })

  it('keeps the order of keys and treats __proto__ as data', () => {
    const data = workload('b: 1\na: 2\n__proto__: { polluted: true }')
    expect(Object.keys(data)).toEqual(['b', 'a', '__proto__'])
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('accepts any scalar where text is expected, as it was written', () => {
    expect(start('desc: 1.10\nwhen: true')).toMatchObject({ description: '1.10', when: 'true' })
    const task = firstTask(
      'tool: {kind: http, url: 5, method: true, headers: {X-Version: 1.0}, params: {n: 1}}',
    )
    expect(task.config).toEqual({
      url: '5',
      method: 'true',
      headers: { 'X-Version': '1.0' },
      params: { n: 1 },
    })
    const labelled = valid(
      BASE.replace('name: sample', 'name: 7, version: 1.10, labels: {phase: 2}, tags: [1]'),
    )
    expect(labelled.metadata).toEqual({ name: '7', version: '1.10', labels: { phase: '2' }, tags: [1] })
  })

  it('says that a template needs quotes', () => {
    expect(codes(startStep('when: {{ x }}'))).toEqual(['TEMPLATE_NOT_QUOTED'])
    expect(find(startStep('when: {{ x }}'), 'TEMPLATE_NOT_QUOTED')).toMatchObject({ line: 6, column: 11 })
    expect(diagnostics(startStep('when: {{ x }} and y'))[0]?.message).toContain('needs quotes')
  })
})
