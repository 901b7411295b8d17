import { describe, expect, it } from 'vitest'
import { advice, codes, find, startStep, workflow } from './snippets.suite.ts'

describe('names in templates', () => {
  it('warns about a name that nothing defines, at its place, with a guess', () => {
    const text = `${startStep('next: [{step: b, when: "{{ 1 + usr_id }}"}]')}workload: {user_id: 1}\n`
    const warning = find(text, 'unknown-name')
    expect(warning).toMatchObject({ severity: 'warning', line: 6, column: 36 })
    expect(warning.message).toBe(
      "Step 'start': 'usr_id' is not defined in this playbook. Did you mean 'user_id'?",
    )
  })

  it.each([
    ['when: "{{ keychain.api.key is defined }}"'],
    ['set: {ctx.key: "{{ keychain.api.key }}"}'],
    ['next: [{step: b, when: "{{ keychain.api.key }}"}]'],
    ['loop: {in: "{{ keychain.api.keys }}", iterator: x}\ntool: {kind: noop}'],
  ])('warns about secrets where no tool reads them: %s', (keys) => {
    expect(advice(startStep(keys))).toEqual(['keychain-outside-tools'])
  })

  it.each([
    ['tool: {kind: http, url: u, headers: {x: "{{ keychain.api.key }}"}}'],
    ['tool: [{a: {kind: http, url: u, auth: {token: "{{ keychain.api.key }}"}}}]'],
    ['input: {key: "{{ keychain.api.key }}"}\ntool: {kind: noop}'],
  ])('lets tools read secrets: %s', (keys) => {
    expect(advice(startStep(keys))).toEqual([])
  })

  it.each([
    ['a workload key', 'key'],
    ['a step', 'b'],
    ['a variable set by a step', 'total'],
    ['a variable set by an arc', 'page'],
    ['a variable set by a policy', 'seen'],
    ['args of an arc', 'why'],
    ['a task', 'get'],
    ['an iterator', 'item'],
    ['an input key', 'limit'],
    ['the engine', 'execution_id'],
    ['a function', 'now()'],
    ['the iteration', 'iter.item'],
  ])('knows a name that comes from %s', (_, expression) => {
    const text = `${workflow(`- step: start
  when: "{{ ${expression} }}"
  set: {ctx.total: 1}
  next: [{step: b, set: {page: 1}, args: {why: x}}]
- step: b
  loop: {in: [1], iterator: item}
  input: {limit: 5}
  tool: [{name: get, kind: noop, spec: {policy: {rules: [{then: {set: {ctx.seen: 1}}}]}}}]`)}workload: {key: 1}\n`
    expect(codes(text, 'warning')).toEqual([])
  })

  it.each([
    ['{{ gone | default(3) }}'],
    ['{{ gone.x is defined }}'],
    ["{{ gone['a'] | d('') }}"],
    ['{{ gone is not defined }}'],
  ])('does not warn where the template expects the name to be missing: %s', (template) => {
    expect(advice(startStep(`set: {x: "${template}"}`))).toEqual([])
  })

  it('does not take loop variables of a template for names', () => {
    expect(advice(startStep('set: {x: "{% for each in [1] %}{{ each }}{% endfor %}"}'))).toEqual([])
  })

  it('knows the names of unquoted conditions', () => {
    expect(advice(startStep('when: "gone > 3"'))).toEqual(['unknown-name'])
  })
})

describe('names of things', () => {
  it('warns about step names that templates cannot read or that are taken', () => {
    expect(codes(workflow('- step: start\n  next: my-step\n- step: my-step'), 'warning')).toEqual([
      'step-name',
    ])
    expect(codes(workflow('- step: start\n  next: output\n- step: output'), 'warning')).toEqual([
      'reserved-name',
    ])
  })

  it('warns about workload keys, variables, tasks and iterators that take a reserved name', () => {
    expect(advice(`${startStep('desc: x')}workload: {ctx: 1, path: 2}\n`)).toEqual(['reserved-name'])
    expect(advice(startStep('set: {ctx.execution_id: 1}'))).toEqual(['reserved-name'])
    expect(advice(startStep('tool: [{name: output, kind: noop}]'))).toEqual(['reserved-name'])
    expect(advice(startStep('loop: {in: [1], iterator: iter}'))).toEqual(['reserved-name'])
  })

  it('warns about steps that nothing leads to', () => {
    const text = workflow(
      '- step: start\n  next: a\n- step: a\n  next: start\n- step: lost\n  next: far\n- step: far',
    )
    expect(codes(text, 'warning')).toEqual(['unreachable-step', 'unreachable-step', 'endless-cycle'])
    expect(find(text, 'unreachable-step')).toMatchObject({
      line: 9,
      message: expect.stringContaining("Step 'lost'"),
    })
    expect(
      codes(`${workflow('- step: start\n- step: last')}executor: {spec: {final_step: last}}\n`, 'warning'),
    ).toEqual([])
  })
})
