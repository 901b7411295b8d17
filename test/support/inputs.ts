/** Inputs as the HTTP routes make them. */
import type { ReportInput } from '../../src/engine/input.ts'
import { report } from '../../src/engine/testing/inputs.ts'
import { nextTestId } from './appends.ts'

/** A remark of a client: recorded, without consequences. */
export const aNote = (over: Partial<ReportInput> = {}): ReportInput =>
  report('note', { step: 'start', eventId: nextTestId(), ...over })
