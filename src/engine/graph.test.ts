/** What is known of a workflow before it runs. */
import { describe, expect, it } from 'vitest'
import { aPlaybook } from './testing/playbook.ts'

const graph = aPlaybook(`
  - {step: start, next: [b, a]}
  - {step: a, next: j}
  - {step: b, next: {arcs: [{step: j, when: '{{ x }}'}, {step: j}, {step: b}]}}
  - {step: j, next: {arcs: [{step: start, when: '{{ x }}'}, {step: end}]}}
  - {step: end}
  - {step: orphan, next: [a, orphan]}`)

describe('the graph', () => {
  it('knows workflow order and walk order; what cannot be reached comes last', () => {
    expect(['start', 'a', 'b', 'j', 'end', 'orphan'].map((name) => graph.order(name))).toEqual([
      0, 1, 2, 3, 4, 5,
    ])
    expect(['start', 'b', 'j', 'end', 'a'].map((name) => graph.walkOrder(name))).toEqual([0, 1, 2, 3, 4])
    expect(graph.walkOrder('orphan')).toBe(Number.MAX_SAFE_INTEGER)
    expect(graph.order('unknown')).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('leaves arcs that close a cycle out of joins, and counts parallel arcs once (rule 1)', () => {
    expect(graph.forwardUpstreams('start')).toEqual([])
    expect(graph.forwardUpstreams('b')).toEqual(['start'])
    expect(graph.forwardUpstreams('j')).toEqual(['a', 'b'])
    expect(graph.forwardUpstreams('a')).toEqual(['start', 'orphan'])
    expect(graph.forwardUpstreams('orphan')).toEqual([])
    expect(graph.forwardUpstreams('unknown')).toEqual([])
  })

  it('knows what keeps an upstream of a join possible: never by way of the join itself (rule 2)', () => {
    expect([...graph.mayStillReach('j', 'a')].sort()).toEqual(['a', 'orphan', 'start'])
    expect([...graph.mayStillReach('end', 'j')].sort()).toEqual(['a', 'b', 'j', 'orphan', 'start'])
  })

  it('knows what a step can reach', () => {
    expect([...graph.reachable('j')].sort()).toEqual(['a', 'b', 'end', 'j', 'start'])
    expect(graph.reachable('end').size).toBe(0)
  })

  it('does not know steps that are not there', () => {
    expect(() => graph.step('unknown')).toThrow("step 'unknown' is not in the playbook")
  })

  it('walks chains of any length', () => {
    const steps = Array.from({ length: 5000 }, (_, index) => `  - {step: s${index}, next: s${index + 1}}`)
    const long = aPlaybook(`  - {step: start, next: s0}\n${steps.join('\n')}\n  - {step: s5000}`)
    expect(long.walkOrder('s5000')).toBe(5001)
    expect(long.reachable('start').size).toBe(5001)
  })
})
