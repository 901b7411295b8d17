import { describe, expect, test } from 'vitest'
import type { ImportedFact } from '../store/imported-events.ts'
import { standingOfImported } from './imported-standing.ts'

/** Facts of a log, one event after the other. */
type LogEntry = readonly [type: string, status: string | null, node?: string]

const factsOf = (...events: readonly LogEntry[]) =>
  events.map(([event_type, status, node_name = null], index): ImportedFact => ({
    event_type,
    status,
    node_name,
    count: 1,
    newest_at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(),
    newest_id: String(index + 1),
    error: status === 'FAILED' ? `error of event ${index + 1}` : null,
  }))

const statusOf = (...events: readonly LogEntry[]): string => standingOfImported(factsOf(...events)).status

describe('the status of a log from elsewhere', () => {
  test.each([
    ['playbook.completed', 'COMPLETED'],
    ['playbook_completed', 'COMPLETED'],
    ['workflow.completed', 'COMPLETED'],
    ['playbook.failed', 'FAILED'],
    ['playbook_failed', 'FAILED'],
    ['playbook.cancelled', 'CANCELLED'],
    ['playbook_cancelled', 'CANCELLED'],
    ['execution.cancelled', 'CANCELLED'],
  ])('%s makes it %s (1)', (type, status) => {
    expect(
      statusOf(['step.enter', 'ENTERED', 'a'], ['command.completed', 'success', 'a'], [type, status]),
    ).toBe(status)
  })

  test('the newest terminal event decides (1)', () => {
    expect(statusOf(['playbook.failed', 'FAILED'], ['playbook.completed', 'COMPLETED'])).toBe('COMPLETED')
    expect(statusOf(['playbook.completed', 'COMPLETED'], ['playbook_cancelled', 'CANCELLED'])).toBe(
      'CANCELLED',
    )
  })

  test('any failed event makes it failed when nothing ended it (2)', () => {
    expect(statusOf(['step.enter', 'ENTERED', 'a'], ['command.failed', 'FAILED', 'a'])).toBe('FAILED')
    expect(statusOf(['command.failed', 'FAILED', 'a'], ['playbook.completed', 'COMPLETED'])).toBe('COMPLETED')
  })

  test('it has completed when every entered step has and no command is under way (2)', () => {
    const entered = ['step.enter', 'ENTERED', 'a'] as const
    expect(statusOf(entered, ['command.completed', 'success', 'a'])).toBe('COMPLETED')
    expect(statusOf(entered, ['step.exit', 'COMPLETED', 'a'])).toBe('COMPLETED')
    expect(statusOf(entered, ['step.enter', 'ENTERED', 'b'], ['command.completed', 'success', 'a'])).toBe(
      'RUNNING',
    )
    expect(
      statusOf(
        entered,
        ['command.issued', 'PENDING', 'a'],
        ['command.issued', 'PENDING', 'a'],
        ['command.completed', 'success', 'a'],
      ),
    ).toBe('RUNNING')
    expect(statusOf(['playbook_started', 'STARTED'])).toBe('RUNNING')
    expect(statusOf(['command.completed', 'success', 'a'])).toBe('RUNNING')
  })
})

test('counts steps by name, without the playbook itself (3)', () => {
  const standing = standingOfImported(
    factsOf(
      ['playbook_started', 'STARTED', 'playbook'],
      ['step.enter', 'ENTERED', 'a'],
      ['command.started', 'STARTED', 'a'],
      ['command.completed', 'success', 'a'],
      ['step.enter', 'ENTERED', 'b'],
      ['command.claimed', 'RUNNING', 'b'],
      ['step.enter', 'ENTERED', 'c'],
      ['command.failed', 'FAILED', 'c'],
      ['playbook.failed', 'FAILED', 'playbook'],
    ),
  )
  expect(standing).toEqual({
    status: 'FAILED',
    finishedAt: '2026-01-01T00:00:08.000Z',
    totalSteps: 3,
    completedSteps: 1,
    runningSteps: 0,
    failedSteps: 1,
    currentStep: 'c',
    error: 'error of event 9',
  })
  expect(
    standingOfImported(factsOf(['step.enter', 'ENTERED', 'b'], ['command.claimed', 'RUNNING', 'b'])),
  ).toMatchObject({ status: 'RUNNING', runningSteps: 1, finishedAt: null, error: null })
})
