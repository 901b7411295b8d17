import { describe, expect, it } from 'vitest'
import { advice, codes, find, start, startStep } from './snippets.suite.ts'

describe('loop', () => {
  it('is sequential and stops at an error unless told otherwise', () => {
    expect(start('loop: {in: "{{ ctx.items }}", iterator: item}').loop).toEqual({
      mode: 'sequential',
      iterator: 'item',
      in: '{{ ctx.items }}',
      maxInFlight: null,
      onError: 'fail',
      cursor: null,
    })
  })

  it.each([
    ['5', 5],
    ['"5"', 5],
    ['"{{ workload.n }}"', '{{ workload.n }}'],
  ])('takes max_in_flight %s', (written, maxInFlight) => {
    const keys = `loop: {in: [1], iterator: x, spec: {mode: parallel, max_in_flight: ${written}}}`
    expect(start(keys).loop).toMatchObject({ mode: 'parallel', maxInFlight })
  })

  it.each([
    ['[1, {a: "{{ b }}"}]', [1, { a: '{{ b }}' }]],
    ['{k: 1}', [{ key: 'k', value: 1 }]],
    ['3', '{{ 3 }}'],
    ['"a, b"', 'a, b'],
  ])('2: takes the collection %s', (written, collection) => {
    expect(start(`loop: {in: ${written}, iterator: x}`).loop?.in).toEqual(collection)
  })

  it.each([
    ['continue', 'continue'],
    ['collect', 'continue'],
    ['fail', 'fail'],
  ])('reads on_error %s', (written, onError) => {
    expect(start(`loop: {in: [1], iterator: x, spec: {on_error: ${written}}}`).loop?.onError).toBe(onError)
  })

  it('reads a cursor with its frame', () => {
    const cursor = 'cursor: {auth: "{{ pg }}", claim: "SELECT {{ __frame_max_rows }}"}'
    const spec = 'spec: {mode: cursor, frame: {max_rows: 20, row_concurrency: 4, lease_seconds: 5}}'
    expect(start(`loop: {${cursor}, iterator: job, ${spec}}`).loop).toEqual({
      mode: 'cursor',
      iterator: 'job',
      in: null,
      maxInFlight: 1,
      onError: 'fail',
      cursor: {
        kind: 'postgres',
        auth: '{{ pg }}',
        claim: 'SELECT {{ __frame_max_rows }}',
        maxRows: 20,
        rowConcurrency: 4,
      },
    })
    expect(start(`loop: {${cursor}, iterator: job}`).loop).toMatchObject({
      mode: 'cursor',
      cursor: { maxRows: 1 },
    })
  })

  it.each([
    ['{in: [1]}', ['PARSE']],
    ['{in: [1], iterator: ""}', ['LOOP_ITERATOR']],
    ['{in: " ", iterator: x}', ['LOOP_IN_REQUIRED']],
    ['{in: true, iterator: x}', ['LOOP_IN']],
    ['{in: "{{ x y }}", iterator: x}', ['LOOP_IN']],
    ['{in: [1], cursor: {claim: x}, iterator: x}', ['LOOP_IN_AND_CURSOR']],
    ['{in: [1], iterator: x, spec: {max_in_flight: 0}}', ['MAX_IN_FLIGHT']],
    ['{in: [1], iterator: x, spec: {max_in_flight: 1.5}}', ['MAX_IN_FLIGHT']],
    ['{in: [1], iterator: x, spec: {max_in_flight: many}}', ['MAX_IN_FLIGHT']],
    ['{in: [1], iterator: x, spec: {on_error: ignore}}', ['ON_ERROR']],
    ['{cursor: {kind: postgres}, iterator: x}', ['LOOP_CURSOR']],
    ['{cursor: {claim: x}, iterator: x, spec: {mode: parallel}}', ['LOOP_IN_REQUIRED', 'LOOP_CURSOR']],
    ['{cursor: {claim: x}, iterator: x, spec: {frame: {max_rows: 0}}}', ['LOOP_FRAME']],
    ['[1, 2]', ['PARSE']],
  ])('%s is refused as %s', (loop, expected) => {
    expect(codes(startStep(`loop: ${loop}`))).toEqual(expected)
  })

  it('suggests the mode that was meant', () => {
    const problem = find(startStep('loop: {in: [1], iterator: x, spec: {mode: Paralel}}'), 'PARSE')
    expect(problem.message).toContain("Did you mean 'parallel'?")
  })

  it('says where a misplaced mode belongs', () => {
    const warning = find(startStep('loop: {in: [1], iterator: x, mode: parallel}'), 'unknown-key')
    expect(warning.message).toContain("move it under 'loop.spec'")
  })

  it('warns about keys it does not know', () => {
    expect(advice(startStep('loop: {in: [1], iterator: x, colection: y, spec: {max_inflight: 2}}'))).toEqual([
      'unknown-key',
      'unknown-key',
    ])
  })
})
