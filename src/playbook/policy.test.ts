import { describe, expect, it } from 'vitest'
import { advice, codes, find, firstTask, start, startStep } from './snippets.suite.ts'

const DEFAULTS = { attempts: 3, backoff: 'none', delay: 1, to: null, set: [] }
const tool = (rules: string): string => `tool: {kind: noop, spec: {policy: {rules: [${rules}]}}}`
const rules = (text: string) => firstTask(tool(text)).rules

describe('policy rules', () => {
  it.each([
    ['{when: "{{ x }}", then: {do: fail}}', { when: '{{ x }}', do: 'fail' }],
    ['{when: true, then: {do: break}}', { when: true, do: 'break' }],
    ['{else: {then: {do: fail}}}', { when: true, do: 'fail' }],
    ['{else: {do: fail}}', { when: true, do: 'fail' }],
    ['{else: null, then: {do: fail}}', { when: true, do: 'fail' }],
    ['{then: {do: fail}}', { when: true, do: 'fail' }],
    ['{when: false, then: null}', { when: false, do: 'continue' }],
    ['{when: "x > 1", then: {}}', { when: 'x > 1', do: 'continue' }],
  ])('%s', (written, expected) => {
    expect(rules(written)).toEqual([{ ...DEFAULTS, ...expected }])
  })

  it('reads attempts, backoff and delay as numbers, digits or templates', () => {
    expect(rules('{then: {do: retry, attempts: "5", backoff: exponential, delay: 0.5}}')).toMatchObject([
      { do: 'retry', attempts: 5, backoff: 'exponential', delay: 0.5 },
    ])
    expect(rules('{then: {do: retry, attempts: "{{ n }}", delay: "{{ d }}"}}')).toMatchObject([
      { attempts: '{{ n }}', delay: '{{ d }}' },
    ])
  })

  it('reads set with its scopes, and set_ctx and set_iter as such', () => {
    const [rule] = rules(
      '{then: {set: {iter.p: 1, x: 2, a.b: 3}, set_ctx: {y: 4, ctx.z: 5}, set_iter: {q: 6}}}',
    )
    expect(rule?.set).toEqual([
      { scope: 'iter', path: ['p'], value: 1 },
      { scope: 'ctx', path: ['x'], value: 2 },
      { scope: 'ctx', path: ['a', 'b'], value: 3 },
      { scope: 'ctx', path: ['y'], value: 4 },
      { scope: 'ctx', path: ['z'], value: 5 },
      { scope: 'iter', path: ['q'], value: 6 },
    ])
  })

  it('a single tool with rules stays single', () => {
    const { body } = start(tool('{then: {do: fail}}'))
    expect(body).toMatchObject({ kind: 'single', tasks: [{ label: 'start_task', config: {} }] })
  })

  it.each([
    ['{when: x, do: fail}', 'RULE_SHAPE'],
    ['{do: fail}', 'RULE_SHAPE'],
    ['{when: x, else: {do: fail}}', 'RULE_SHAPE'],
    ['{when: "", then: {}}', 'RULE_WHEN'],
    ['{when: , then: {}}', 'RULE_WHEN'],
    ['{when: "{{ a b }}", then: {}}', 'RULE_WHEN'],
    ['{then: {do: retri}}', 'POLICY_DO'],
    ['{then: {do: retry, attempts: 0}}', 'POLICY_ATTEMPTS'],
    ['{then: {do: retry, attempts: 2.5}}', 'POLICY_ATTEMPTS'],
    ['{then: {do: retry, backoff: expo}}', 'POLICY_BACKOFF'],
    ['{then: {do: retry, delay: -1}}', 'POLICY_DELAY'],
    ['{then: {do: jump}}', 'JUMP_TARGET'],
    ['{then: {do: jump, to: elsewhere}}', 'JUMP_TARGET'],
    ['{then: {do: jump, to: previous}}', 'JUMP_TARGET'],
    ['{then: continue}', 'PARSE'],
    ['{else: continue}', 'PARSE'],
    ['text', 'PARSE'],
  ])('%s is refused as %s', (written, code) => {
    expect(codes(startStep(tool(written)))).toEqual([code])
  })

  it('suggests the word that was meant', () => {
    expect(find(startStep(tool('{then: {do: retri}}')), 'POLICY_DO').message).toContain(
      "Did you mean 'retry'?",
    )
    expect(find(startStep(tool('{then: {backoff: liner}}')), 'POLICY_BACKOFF').message).toContain("'linear'")
  })

  it('jumps to labels of the same pipeline, or to the task before', () => {
    const pipeline = (to: string): string =>
      `tool: [{name: a, kind: noop}, {name: b, kind: noop, spec: {policy: {rules: [{then: {do: jump, to: "${to}"}}]}}}]`
    const target = (to: string) => start(pipeline(to)).body.tasks[1]?.rules[0]?.to
    expect(target('a')).toBe('a')
    for (const word of ['previous', 'prev', '_previous', '@previous']) expect(target(word)).toBeNull()
    expect(find(startStep(pipeline('aa')), 'JUMP_TARGET').message).toContain('a, b')
  })

  it('warns about a rule that is never reached', () => {
    expect(advice(startStep(tool('{else: {do: fail}}, {when: "{{ ctx.x }}", then: {}}')))).toEqual([
      'unreachable-rule',
    ])
  })
})

it.each([
  ['{then: {do: retry, delay: 5}}', ['delay-without-backoff']],
  ['{then: {do: retry, delay: "{{ ctx.d }}"}}', ['delay-without-backoff']],
  ['{then: {do: retry, delay: 5, backoff: none}}', []],
  ['{then: {do: retry, delay: 0}}', []],
])('%s is told that a delay needs a backoff: %j', (written, expected) => {
  expect(advice(startStep(tool(written)))).toEqual(expected)
})

describe('older spellings', () => {
  it('eval becomes rules', () => {
    const keys = `tool:
  kind: http
  eval:
    - {expr: "{{ outcome.status == 'error' }}", do: retry, attempts: 2, backoff: fixed, delay: 3}
    - {else: {do: continue, set_vars: {n: "{{ outcome.result }}"}}}`
    expect(firstTask(keys).rules).toEqual([
      {
        ...DEFAULTS,
        when: "{{ outcome.status == 'error' }}",
        do: 'retry',
        attempts: 2,
        backoff: 'fixed',
        delay: 3,
      },
      {
        ...DEFAULTS,
        when: true,
        do: 'continue',
        set: [{ scope: 'ctx', path: ['n'], value: '{{ outcome.result }}' }],
      },
    ])
    expect(firstTask(keys).config).toEqual({})
    expect(codes(startStep('tool: {kind: http, eval: [{expr: "", do: fail}]}'))).toEqual(['EVAL_EXPR'])
    expect(codes(startStep('tool: {kind: http, eval: [{do: explode}]}'))).toEqual(['EVAL_ACTION'])
  })

  it('retry becomes one rule when there are no explicit ones', () => {
    expect(firstTask('tool: {kind: http, retry: {max_attempts: 5}}').rules).toEqual([
      {
        ...DEFAULTS,
        when: "{{ output.status == 'error' }}",
        do: 'retry',
        attempts: 5,
        backoff: 'fixed',
        delay: 1,
      },
    ])
    const [rule] = firstTask(
      'tool: {kind: http, retry: {retry_on: [503, timeout], backoff_seconds: 2}}',
    ).rules
    expect(rule?.delay).toBe(2)
    expect(rule?.when).toBe(
      "{{ output.status == 'error' and (output.http.status == 503 or output.error.kind == 'timeout') }}",
    )
    const both = 'tool: {kind: noop, retry: {max_attempts: 5}, spec: {policy: {rules: [{then: {do: fail}}]}}}'
    expect(firstTask(both).rules).toHaveLength(1)
    expect(firstTask(both).config).toEqual({})
    expect(advice(startStep(both))).toEqual(['ignored-key'])
  })
})
