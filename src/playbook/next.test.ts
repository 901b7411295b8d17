import { describe, expect, it } from 'vitest'
import { advice, codes, find, start, startStep } from './snippets.suite.ts'

describe('next', () => {
  it.each([
    ['next: b', 'exclusive'],
    ['next: [b]', 'all'],
    ['next: [{step: b}]', 'exclusive'],
    ['next: {arcs: [{step: b}]}', 'exclusive'],
    ['next: {spec: {mode: INCLUSIVE}, arcs: [{step: b}]}', 'inclusive'],
  ])('%s leads to b, %s', (keys, mode) => {
    expect(start(keys)).toMatchObject({ arcs: [{ to: 'b', when: null, set: [] }], mode })
  })

  it('1: takes the mode of spec.next_mode where the form has none of its own', () => {
    const spec = 'spec: {next_mode: Inclusive}\n'
    expect(start(`${spec}next: [{step: b}, {step: c}]`).mode).toBe('inclusive')
    expect(start(`${spec}next: {arcs: [{step: b}]}`).mode).toBe('inclusive')
    expect(start(`${spec}next: {spec: {mode: exclusive}, arcs: [{step: b}]}`).mode).toBe('exclusive')
    expect(start(`${spec}next: [b, c]`).mode).toBe('all')
  })

  it('reads guards and writes of an arc', () => {
    expect(
      start('next: {arcs: [{step: b, when: true, set: {ctx.a.b: "{{ output.n }}", k: 2}}]}').arcs,
    ).toEqual([
      {
        to: 'b',
        when: 'true',
        set: [
          { scope: 'ctx', path: ['a', 'b'], value: '{{ output.n }}' },
          { scope: 'ctx', path: ['k'], value: 2 },
        ],
      },
    ])
  })

  it('3: reads args as bare variables, with a warning only in the router form', () => {
    const set = [{ scope: 'ctx', path: ['k'], value: 1 }]
    expect(start('next: [{step: b, args: {k: 1}}]').arcs[0]?.set).toEqual(set)
    expect(advice(startStep('next: [{step: b, args: {k: 1}}]'))).toEqual([])
    expect(start('next: {arcs: [{step: b, args: {k: 1}}]}').arcs[0]?.set).toEqual(set)
    expect(advice(startStep('next: {arcs: [{step: b, args: {k: 1}}]}'))).toEqual(['legacy'])
  })

  it.each([['next: []'], ['next:'], ['next: {arcs: []}'], ['next: {arcs: }']])('%s is no next', (keys) => {
    expect(start(keys).arcs).toEqual([])
  })

  it.each([
    ['next: [b, {step: c}]', 'NEXT_MIXED'],
    ['next: {arcs: [{when: "{{ x }}"}]}', 'ARC_STEP'],
    ['next: {arcs: [{step: b, when: " "}]}', 'NEXT_WHEN'],
    ['next: {arcs: [{step: b, when: "{{ ) }}"}]}', 'NEXT_WHEN'],
    ['next: {spec: {mode: inklusive}, arcs: [{step: b}]}', 'NEXT_MODE'],
    ['next: {arcs: [{step: d}]}', 'NEXT_UNKNOWN'],
    ['next: {arcs: {step: b}}', 'PARSE'],
    ['next: {arcs: [{step: [b]}]}', 'PARSE'],
    ['next: {arcs: [b]}', 'PARSE'],
    ['next: {foo: b}', 'NEXT_ARCS'],
  ])('%s is refused as %s', (keys, code) => {
    expect(codes(startStep(keys))).toEqual([code])
  })

  it('points at the offending arc', () => {
    const problem = find(
      startStep('next:\n  arcs:\n    - step: b\n    - step: zz\n      when: x'),
      'NEXT_UNKNOWN',
    )
    expect(problem).toMatchObject({ line: 9, column: 17, path: 'workflow[0].next.arcs[1].step' })
  })
})
