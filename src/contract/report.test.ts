import { describe, expect, test } from 'vitest'

import type { CommandReport } from './command.ts'
import { toReportEvent } from './report.ts'

const report = (more: Partial<CommandReport>): CommandReport => ({
  executionId: '1',
  eventId: '2',
  commandId: 'c',
  step: 's',
  workerId: 'w',
  leaseToken: 't',
  attempt: 1,
  outcome: 'ok',
  durationMs: 3,
  ...more,
})

const innerOf = (more: Partial<CommandReport>): unknown => {
  const { result } = toReportEvent(report(more)).context
  return (result as { context: unknown }).context
}

describe('variables that a command wrote', () => {
  test('travel beside data that is a mapping, too', () => {
    expect(innerOf({ data: { x: 1 }, contextUpdates: { a: 2 } })).toEqual({
      data: { x: 1 },
      context_updates: { a: 2 },
    })
  })

  test.each([[[1]], ['text'], [null]])('travel beside %j', (data) => {
    expect(innerOf({ data, contextUpdates: { a: 2 } })).toEqual({ data, context_updates: { a: 2 } })
  })

  test('travel without data too, and leave no trace when there are none', () => {
    expect(innerOf({ contextUpdates: { a: 2 } })).toEqual({ context_updates: { a: 2 } })
    expect(innerOf({ data: { x: 1 } })).toEqual({ data: { x: 1 } })
  })
})
