import { describe, expect, it } from 'vitest'
import { endlessCycles } from './cycles.ts'
import { codes, find, valid, workflow } from './snippets.suite.ts'

const cyclesOf = (steps: string) => endlessCycles(valid(workflow(steps)))

describe('a cycle that nothing ends', () => {
  it('is worth a warning with its place, its steps and the way out', () => {
    const text = workflow(`- step: start
  next: again
- step: again
  tool: {kind: noop}
  next: [start]`)
    expect(codes(text, 'warning')).toEqual(['endless-cycle'])
    expect(find(text, 'endless-cycle')).toMatchObject({ line: 5, column: 11, path: 'workflow[0].step' })
    expect(find(text, 'endless-cycle').message).toBe(
      "Step 'start': no arc leads out of the cycle start → again → start, so it goes round until the limit of step runs fails it; put a 'when' on one of its arcs, or add an arc to a step outside",
    )
  })

  it('may be a step that leads to itself, behind others', () => {
    expect(cyclesOf('- {step: start, next: a}\n- {step: a, next: {arcs: [{step: a}]}}')).toEqual([['a']])
  })

  it('is told once, from its first step, by the shortest way round (2)', () => {
    const steps = `- {step: start, next: [c]}
- {step: b, next: [c, d]}
- {step: c, next: [d]}
- {step: d, next: [b]}`
    expect(cyclesOf(steps)).toEqual([['b', 'd']])
  })

  it('is the innermost of those that lead into each other (2)', () => {
    const steps = `- {step: start, next: [a]}
- {step: a, next: [start, b]}
- {step: b, next: [c]}
- {step: c, next: [b]}`
    expect(cyclesOf(steps)).toEqual([['b', 'c']])
  })

  it('is told for each that there is', () => {
    const steps = '- {step: start, next: [a, b]}\n- {step: a, next: a}\n- {step: b, next: b}'
    expect(cyclesOf(steps)).toEqual([['a'], ['b']])
  })

  it('names only the first steps of a long one', () => {
    const names = ['start', ...Array.from({ length: 20 }, (_, index) => `s${index}`)]
    const steps = names.map((name, index) => `- {step: ${name}, next: ${names[index + 1] ?? 'start'}}`)
    expect(find(workflow(steps.join('\n')), 'endless-cycle').message).toContain(
      'start → s0 → s1 → s2 → s3 → s4 → s5 → s6 → … → start, so',
    )
  })

  it('is found in a workflow of many steps (3)', () => {
    const count = 20_000
    const playbook = valid(workflow('- step: start'))
    const [template] = playbook.steps
    if (template === undefined) throw new Error('no step')
    const steps = Array.from({ length: count }, (_, index) => ({
      ...template,
      name: `s${index}`,
      arcs: [index, Math.min(index + 1, count - 1)].map((to) => ({ to: `s${to}`, when: null, set: [] })),
    }))
    expect(endlessCycles({ ...playbook, entry: 's0', steps })).toEqual([[`s${count - 1}`]])
  })
})

describe('a cycle that may end has no warning (1)', () => {
  it.each([
    ['an arc back with a condition', '- {step: start, next: {arcs: [{step: start, when: "{{ 1 }}"}]}}'],
    [
      'a condition somewhere in it',
      '- {step: start, next: a}\n- {step: a, next: {arcs: [{step: b, when: "{{ 1 }}"}]}}\n- {step: b, next: start}',
    ],
    ['an arc that leads out', '- {step: start, next: [start, a]}\n- {step: a}'],
    [
      'an arc that leads out with a condition',
      '- {step: start, next: {arcs: [{step: a, when: "{{ 1 }}"}, {step: start}]}}\n- {step: a}',
    ],
    ['a step with a guard', '- {step: start, when: "{{ 1 }}", next: start}'],
    [
      'a step with rules of admission',
      '- {step: start, next: start, spec: {policy: {admit: {rules: [{else: {then: {allow: false}}}]}}}}',
    ],
    [
      'a rule that fails',
      '- step: start\n  tool: {kind: noop, spec: {policy: {rules: [{when: "{{ 1 }}", then: {do: fail}}]}}}\n  next: start',
    ],
    ['no way that leads to it', '- {step: start}\n- {step: a, next: a}'],
  ])('%s', (_, steps) => {
    expect(cyclesOf(steps)).toEqual([])
  })
})
