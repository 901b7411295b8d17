import { describe, expect, test } from 'vitest'
import { eventSpanId, executionSpanId, toolTrace, traceContextOf, traceOfHeaders } from './trace.ts'

const EXECUTION = '380492866176073728'
const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

describe('every execution has a trace (rule 1)', () => {
  test('the one its caller named', () => {
    expect(traceContextOf(EXECUTION, { traceparent: GIVEN, tracestate: 'a=1' })).toEqual({
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
      sampled: true,
      tracestate: 'a=1',
    })
  })

  test('else one made of its own id', () => {
    const own = traceContextOf(EXECUTION, null)
    expect(own).toMatchObject({ parentSpanId: null, sampled: true, tracestate: null })
    expect(own.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(traceContextOf(EXECUTION, {})).toEqual(own)
    expect(traceContextOf('380492866176073729', null).traceId).not.toBe(own.traceId)
  })

  test('a caller that does not sample is heard', () => {
    expect(traceContextOf(EXECUTION, { traceparent: GIVEN.replace(/01$/, '00') }).sampled).toBe(false)
  })
})

test.each([
  ['text', 'nonsense'],
  ['a number', 7],
  ['a list', [GIVEN]],
  ['an all-zero trace', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }],
  ['an all-zero span', { traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01` }],
  ['the version that is none', { traceparent: GIVEN.replace(/^00/, 'ff') }],
  ['capital letters', { traceparent: GIVEN.toUpperCase() }],
])('%s is no context and is ignored (rule 3)', (_name, trace) => {
  expect(traceContextOf(EXECUTION, trace)).toEqual(traceContextOf(EXECUTION, null))
})

test('spans of a command and of the execution that it started differ, though they share an id (rule 2)', () => {
  expect(eventSpanId(EXECUTION)).toMatch(/^[0-9a-f]{16}$/)
  expect(executionSpanId(EXECUTION)).toMatch(/^[0-9a-f]{16}$/)
  expect(executionSpanId(EXECUTION)).not.toBe(eventSpanId(EXECUTION))
})

test('a tool hands on the trace with the span of its command', () => {
  const trace = toolTrace(EXECUTION, '17', { traceparent: GIVEN, tracestate: 'a=1' })
  expect(trace).toEqual({
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000011-01',
    tracestate: 'a=1',
  })
  expect(traceContextOf('1', { ...trace })).toMatchObject({ parentSpanId: '0000000000000011' })
})

test.each(['a=1\nx: y', 'a=\u0000', 'ü=1', ''])(
  'a state that no header carries, %j, is left out (rule 3)',
  (tracestate) => {
    const context = traceContextOf(EXECUTION, { traceparent: GIVEN, tracestate })
    expect(context).toMatchObject({ parentSpanId: '00f067aa0ba902b7', tracestate: null })
  },
)

test('headers of a request are a trace when they hold a valid one', () => {
  expect(traceOfHeaders({ traceparent: GIVEN, accept: '*/*' })).toEqual({ traceparent: GIVEN })
  expect(traceOfHeaders({ traceparent: GIVEN, tracestate: 'a=1' })).toEqual({
    traceparent: GIVEN,
    tracestate: 'a=1',
  })
  expect(traceOfHeaders({ traceparent: 'nonsense', tracestate: 'a=1' })).toBeNull()
  expect(traceOfHeaders({ tracestate: 'a=1' })).toBeNull()
})
