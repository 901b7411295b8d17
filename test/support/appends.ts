/** Appends for tests of the store: an execution that starts, with defaults for everything a test is not about. */
import type { EventRecord } from '../../src/contract/event.ts'
import { anEvent } from '../../src/contract/testing/event.ts'
import { createSnowflake } from '../../src/lib/snowflake.ts'
import type {
  Append,
  CommandUpdate,
  ExecutionUpdate,
  NewCommand,
  TimerToSet,
} from '../../src/store/append.ts'

export const nextTestId = createSnowflake({ machineId: 1000, now: Date.now })

const AT = '2026-01-02T03:04:05.678Z'

const aStoredEvent = (executionId: string, position: number, over: Partial<EventRecord> = {}): EventRecord =>
  anEvent({
    executionId,
    position,
    eventId: nextTestId(),
    createdAt: AT,
    nodeName: 'start',
    status: 'RUNNING',
    ...over,
  })

/** Appends the events after `expectedVersion`; their positions follow from it. */
export const anAppend = (
  executionId: string,
  expectedVersion: number,
  events: readonly Partial<EventRecord>[],
  over: {
    execution?: Partial<ExecutionUpdate>
    commands?: readonly NewCommand[]
    changes?: readonly CommandUpdate[]
    timers?: readonly TimerToSet[]
  } = {},
): Append => ({
  execution: {
    executionId,
    expectedVersion,
    version: expectedVersion + events.length,
    status: 'RUNNING',
    at: AT,
    catalogId: '1',
    path: 'tests/append',
    playbookVersion: 1,
    parentExecutionId: null,
    pool: 'shared',
    totalSteps: 0,
    completedSteps: 0,
    runningSteps: 0,
    failedSteps: 0,
    currentStep: null,
    error: null,
    ...over.execution,
  },
  events: events.map((event, index) => aStoredEvent(executionId, expectedVersion + 1 + index, event)),
  commands: over.commands ?? [],
  changes: over.changes ?? [],
  timers: over.timers ?? [],
})

export const aNewCommand = (executionId: string, over: Partial<NewCommand> = {}): NewCommand => {
  const eventId = over.eventId ?? nextTestId()
  return {
    eventId,
    executionId,
    position: 1,
    commandId: `${executionId}:start:${eventId}`,
    step: 'start',
    toolKind: 'noop',
    pool: 'shared',
    status: 'PENDING',
    attempt: 0,
    leaseToken: '0',
    workerId: null,
    leaseSeconds: 60,
    ...over,
  }
}
