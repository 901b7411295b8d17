/** Events for tests, with nothing in them but what the test is about. */
import type { EventRecord } from '../event.ts'

/** The first event of an execution, empty, at the beginning of 2026. */
export const anEvent = (over: Partial<EventRecord> = {}): EventRecord => ({
  executionId: '500',
  position: 1,
  eventId: '1',
  createdAt: '2026-01-01T00:00:00.000Z',
  eventType: 'note',
  nodeName: null,
  nodeType: null,
  status: null,
  parentEventId: null,
  workerId: null,
  durationMs: null,
  context: null,
  result: null,
  meta: {},
  error: null,
  ...over,
})
