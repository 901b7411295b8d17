import { describe, expect, test } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import { anEvent } from '../contract/testing/event.ts'
import type { Span } from './spans.ts'
import { spanBuilderOf } from './spans.ts'

const EXECUTION = '1000'
const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }

let position = 0
const event = (eventType: string, nodeName: string, parts: Partial<EventRecord> = {}): EventRecord => {
  position += 1
  return anEvent({
    executionId: EXECUTION,
    position,
    eventId: String(2000 + position),
    createdAt: new Date(Date.UTC(2026, 0, 1) + position * 1000).toISOString(),
    eventType,
    nodeName,
    ...parts,
  })
}

const ours = { emitted_by: 'orchestrator' }
const started = () =>
  event('playbook_started', 'shop/order', { context: { path: 'shop/order' }, meta: { trace: TRACE } })
const issued = (step: string, id: string, meta = {}) =>
  event('command.issued', step, { nodeType: 'http', meta: { command_id: id, ...meta } })

const spansOf = (log: readonly EventRecord[]): readonly Span[] => {
  const [first] = log
  if (!first) return []
  const builder = spanBuilderOf(first)
  return log.flatMap((each) => builder.add(each))
}

const tree = (spans: readonly Span[]): readonly string[] =>
  spans.map(({ name, parentSpanId, outcome }) => {
    const parent = spans.find((span) => span.spanId === parentSpanId)?.name ?? parentSpanId
    return `${name} < ${parent} ${outcome}`
  })

describe('a span per execution, step run and command (rule 2)', () => {
  const log = [
    started(),
    event('step.enter', 'pay'),
    issued('pay', 'c1'),
    event('command.claimed', 'pay', { workerId: 'w1', meta: { command_id: 'c1', attempt: 1 } }),
    event('command.released', 'pay', { meta: { command_id: 'c1', reason: 'lease_expired', attempt: 1 } }),
    event('command.claimed', 'pay', { workerId: 'w2', meta: { command_id: 'c1', attempt: 2 } }),
    event('command.completed', 'pay', { status: 'COMPLETED', meta: { command_id: 'c1' } }),
    event('step.exit', 'pay', { status: 'COMPLETED', meta: ours }),
    event('playbook.completed', 'playbook', { status: 'COMPLETED' }),
  ]
  const spans = spansOf(log)

  test('each under its cause, the execution under its caller', () => {
    expect(tree(spans)).toEqual([
      'http pay < step pay ok',
      'step pay < playbook shop/order ok',
      'playbook shop/order < 00f067aa0ba902b7 ok',
    ])
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set(['4bf92f3577b34da6a3ce929d0e0e4736']),
    )
  })

  test('from its first event to its last', () => {
    expect(spans.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [log[2]?.createdAt, log[6]?.createdAt],
      [log[1]?.createdAt, log[7]?.createdAt],
      [log[0]?.createdAt, log[8]?.createdAt],
    ])
  })

  test('attempts are events with their worker (rule 3)', () => {
    expect(spans[0]?.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['claimed', { 'noetl.worker': 'w1', 'noetl.attempt': 1 }],
      ['released', { 'noetl.attempt': 1, 'noetl.reason': 'lease_expired' }],
      ['claimed', { 'noetl.worker': 'w2', 'noetl.attempt': 2 }],
    ])
  })

  test('a log read twice gives the same spans (rule 4)', () => {
    expect(spansOf(log)).toEqual(spans)
  })
})

test('what failed says why', () => {
  const spans = spansOf([
    started(),
    event('step.enter', 'pay'),
    issued('pay', 'c1'),
    event('command.completed', 'pay', { status: 'error', error: 'card refused', meta: { command_id: 'c1' } }),
    event('step.exit', 'pay', { status: 'FAILED', error: 'card refused', meta: ours }),
    event('playbook.failed', 'playbook', { error: 'pay: card refused' }),
  ])
  expect(spans.map(({ outcome, message }) => [outcome, message])).toEqual([
    ['error', 'card refused'],
    ['error', 'card refused'],
    ['error', 'pay: card refused'],
  ])
})

test('what is open ends with the execution (rule 1)', () => {
  const log = [
    started(),
    event('step.enter', 'pay'),
    issued('pay', 'c1', { iteration_index: 4 }),
    event('playbook_cancelled', 'playbook'),
  ]
  expect(tree(spansOf(log))).toEqual([
    'http pay < step pay unset',
    'step pay < playbook shop/order unset',
    'playbook shop/order < 00f067aa0ba902b7 unset',
  ])
  expect(spansOf(log)[0]?.attributes).toMatchObject({ 'noetl.iteration': 4, 'noetl.command_id': 'c1' })
})

test('spans of an execution that runs are shown open', () => {
  const log = [started(), event('step.enter', 'pay')]
  const [first] = log
  const builder = spanBuilderOf(first as EventRecord)
  for (const each of log) expect(builder.add(each)).toEqual([])
  expect(builder.open().map(({ name, endedAt }) => [name, endedAt])).toEqual([
    ['step pay', log[1]?.createdAt],
    ['playbook shop/order', log[1]?.createdAt],
  ])
})

test('a command that was parked ends with the answer from outside', () => {
  const pending = { status: 'COMPLETED', context: { pending_callback: true } }
  const spans = spansOf([
    started(),
    event('step.enter', 'pay'),
    issued('pay', 'c1'),
    event('call.done', 'pay', { meta: { command_id: 'c1' } }),
    event('command.completed', 'pay', { result: pending, meta: { command_id: 'c1' } }),
    event('call.done', 'pay', { meta: { command_id: 'c1' } }),
  ])
  expect(spans.map(({ name, outcome }) => [name, outcome])).toEqual([['http pay', 'ok']])
})

test('an exit that a worker tells ends nothing', () => {
  expect(spansOf([started(), event('step.enter', 'pay'), event('step.exit', 'pay')])).toEqual([])
})

test('an execution that runs again has a span for each time', () => {
  const spans = spansOf([
    started(),
    event('playbook.failed', 'playbook', { error: 'no' }),
    event('playbook.reopened', 'playbook', { status: 'RUNNING' }),
    event('step.enter', 'pay'),
    event('step.exit', 'pay', { meta: ours }),
    event('playbook.completed', 'playbook'),
  ])
  expect(spans.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['playbook shop/order', 'error'],
    ['step pay', 'ok'],
    ['playbook shop/order', 'ok'],
  ])
  expect(spans[1]?.parentSpanId).toBe(spans[2]?.spanId)
  expect(spans[2]?.parentSpanId).toBe(spans[0]?.spanId)
})
