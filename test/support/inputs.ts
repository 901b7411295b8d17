/** Inputs as the HTTP routes make them. */
import type { ReportInput } from '../../src/engine/input.ts'
import { nextTestId } from './appends.ts'

/** A remark of a client: recorded, without consequences. */
export const aNote = (over: Partial<ReportInput> = {}): ReportInput => ({
  type: 'report',
  eventType: 'note',
  step: 'start',
  commandId: null,
  leaseToken: null,
  workerId: null,
  eventId: nextTestId(),
  status: null,
  context: null,
  reference: null,
  meta: {},
  createdAt: null,
  durationMs: null,
  ...over,
})
