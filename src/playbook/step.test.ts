import { describe, expect, it } from 'vitest'
import { advice, codes, find, start, startStep, valid, workflow } from './snippets.suite.ts'

describe('a step', () => {
  it('has sensible values for everything it leaves out', () => {
    expect(start('desc: hello')).toEqual({
      name: 'start',
      description: 'hello',
      when: null,
      admit: [],
      input: {},
      set: [],
      loop: null,
      body: { kind: 'none', tasks: [] },
      arcs: [],
      mode: 'exclusive',
      onError: 'fail',
      timeoutMs: null,
      outputSelect: [],
    })
  })

  it.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['250ms', 250],
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['12', 12_000],
    ['1.5', 1_500],
  ])('reads the timeout %s', (written, expected) => {
    expect(start(`spec: {timeout: ${written}}`).timeoutMs).toBe(expected)
  })

  it.each([['soon'], ['0'], ['-3s'], ['5 parsecs'], ['[1]']])('refuses the timeout %s', (written) => {
    expect(codes(startStep(`spec: {timeout: ${written}}`))).toHaveLength(1)
  })

  it.each([['input'], ['args'], ['with']])('takes its input from %s', (key) => {
    expect(start(`${key}: {k: "{{ workload.a }}"}`).input).toEqual({ k: '{{ workload.a }}' })
  })

  it('refuses two inputs that differ', () => {
    expect(codes(startStep('input: {a: 1}\nargs: {a: 2}'))).toEqual(['INPUT_AND_ARGS'])
    expect(codes(startStep('input: {a: 1}\nwith: {a: 1}'))).toEqual([])
  })

  it('reads admission rules', () => {
    const keys =
      'spec: {policy: {admit: {rules: [{when: "{{ on }}", then: {allow: true}}, {else: {then: {allow: false}}}]}}}'
    expect(start(keys).admit).toEqual([
      { when: '{{ on }}', allow: true },
      { when: true, allow: false },
    ])
    expect(codes(startStep('spec: {policy: {admit: {rules: [{then: {allow: maybe}}]}}}'))).toEqual(['PARSE'])
  })

  it('reads on_error', () => {
    expect(start('spec: {on_error: continue}').onError).toBe('continue')
    expect(find(startStep('spec: {on_error: contine}'), 'ON_ERROR').message).toContain(
      "Did you mean 'continue'?",
    )
  })

  it('collects the fields that stay readable', () => {
    expect(
      start('output: {output_select: [a, 1]}\ntool: {kind: noop, output_select: [b], output: {select: [a]}}'),
    ).toMatchObject({
      outputSelect: ['a', '1', 'b'],
    })
  })

  it('says where misplaced keys belong', () => {
    const text = startStep('command: ls\nsink: x\ncoment: y')
    expect(advice(text)).toEqual(['tool-key-on-step', 'unknown-key', 'unknown-key'])
    expect(find(text, 'tool-key-on-step').message).toContain("move it under 'tool'")
    expect(find(startStep('desk: y'), 'unknown-key').message).toContain("Did you mean 'desc'?")
  })
})

describe('set', () => {
  it('1: writes nested paths and bare names to ctx', () => {
    expect(start('set: {ctx.a.b: 1, n: "{{ output }}", step.x: null}').set).toEqual([
      { scope: 'ctx', path: ['a', 'b'], value: 1 },
      { scope: 'ctx', path: ['n'], value: '{{ output }}' },
      { scope: 'step', path: ['x'], value: null },
    ])
  })

  it('reads vars as set with bare names, with a warning', () => {
    expect(start('vars: {n: "{{ result.n }}"}').set).toEqual([
      { scope: 'ctx', path: ['n'], value: '{{ result.n }}' },
    ])
    expect(advice(startStep('vars: {n: 1}'))).toEqual(['legacy'])
  })

  it.each([
    ['iter.x', 'no iteration'],
    ['workload.x', 'read-only'],
    ['keychain.x', 'read-only'],
    ['output.x', 'read-only'],
    ['ctxt.x', "Did you mean 'ctx'?"],
    ['global.x', 'allowed are ctx, step'],
    ['ctx', 'name one'],
    ['ctx..a', 'empty'],
  ])('2 and 3: refuses the target %s', (target, reason) => {
    const problem = find(startStep(`set: {"${target}": 1}`), 'SET_TARGET')
    expect(problem.message).toContain(reason)
    expect(problem).toMatchObject({ line: 6, column: 11 })
  })

  it('allows iter in tasks, and warns about a path without scope there', () => {
    expect(codes(startStep('tool: {kind: noop, set: {iter.x: 1}}'))).toEqual([])
    expect(advice(startStep('tool: {kind: noop, set: {itr.x: 1}}'))).toEqual(['set-scope'])
    expect(codes(startStep('tool: {kind: noop, set: {workload.x: 1}}'))).toEqual(['SET_TARGET'])
  })

  it('must be a mapping', () => {
    expect(codes(startStep('set: [a]'))).toEqual(['PARSE'])
  })
})

describe('executor', () => {
  const text = (executor: string): string =>
    `${workflow('- step: start\n- step: report')}executor: ${executor}\n`

  it('is read with its defaults', () => {
    expect(valid(workflow('- step: start')).executor).toEqual({
      finalStep: null,
      noNextIsError: false,
      failFast: false,
      requires: {},
    })
    const spec = '{final_step: report, no_next_is_error: true, policy: {failure: {mode: fail_fast}}}'
    expect(valid(text(`{profile: local, requires: {tools: [http]}, spec: ${spec}}`)).executor).toEqual({
      finalStep: 'report',
      noNextIsError: true,
      failFast: true,
      requires: { tools: ['http'] },
    })
  })

  it.each([
    ['{profile: remote}', ['EXECUTOR_PROFILE']],
    ['{requires: {tools: http}}', ['PARSE']],
    ['{spec: {entry_step: nowhere}}', ['EXECUTOR_STEP']],
    ['{spec: {final_step: reprt}}', ['EXECUTOR_STEP']],
    ['{spec: {no_next_is_error: 1}}', ['PARSE']],
    ['[]', ['PARSE']],
  ])('%s is refused as %s', (executor, expected) => {
    expect(codes(text(executor))).toEqual(expected)
  })
})

describe('header', () => {
  const base = workflow('- step: start')

  it('keeps keychain entries with text where text is expected', () => {
    const keychain =
      'keychain: [{name: k, kind: secrets, provider: gcp, map: {a: 1}, auto_renew: true, extra: 2}]\n'
    expect(valid(base + keychain).keychain).toEqual([
      { name: 'k', kind: 'secrets', provider: 'gcp', map: { a: '1' }, auto_renew: true, extra: 2 },
    ])
    expect(codes(`${base}keychain: {k: {}}\n`)).toEqual(['PARSE'])
    expect(codes(`${base}keychain: [{kind: x}]\n`)).toEqual(['PARSE'])
    expect(codes(`${base}keychain: [{name: k, auth: {a: 1}}]\n`)).toEqual(['PARSE'])
    expect(codes(`${base}keychain: [{name: k}, {name: k}]\n`, 'warning')).toEqual(['duplicate-keychain'])
  })

  it('warns about a workload that is no mapping and about top-level vars', () => {
    expect(codes(`${base}workload: [1]\n`, 'warning')).toEqual(['workload-shape'])
    expect(codes(`${base}vars: {}\n`, 'warning')).toEqual(['ignored-key'])
  })

  it('uses the name as path when there is none', () => {
    expect(valid(base).path).toBe('sample')
    expect(valid(base.replace('name: sample', 'name: sample, path: a/b')).path).toBe('a/b')
  })
})
