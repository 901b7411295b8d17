/** Logs written by hand: small ids, and only what a test is about. */
import { foldEvents } from '../projection/fold.ts'
import type { ReplayEvent, ReplayRow } from '../projection/replay-event.ts'
import { eventOfRow } from '../projection/replay-event.ts'
import type { Part } from '../projection/view.ts'
import { createReplayView } from '../projection/view.ts'

export interface LogEntry extends Partial<Omit<ReplayRow, 'meta' | 'extra' | 'reference'>> {
  readonly type: string
  /** Values, or JSON text where the digits matter. */
  readonly meta?: object | string
  readonly extra?: object
  readonly reference?: unknown
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Ids count from 1, unless an entry has its own. */
export const eventsOf = (entries: readonly LogEntry[]): readonly ReplayEvent[] =>
  entries.map(({ type, meta = {}, extra, reference, ...rest }, index) => {
    const event = eventOfRow(
      {
        eventId: String(index + 1),
        eventType: type,
        nodeName: null,
        status: null,
        workerId: null,
        contextCommandId: null,
        meta: textOf(meta),
        extra: extra === undefined ? null : JSON.stringify(extra),
        reference: reference === undefined ? null : JSON.stringify(reference),
        ...rest,
      },
      { tenantId: 'default', organizationId: 'default' },
    )
    if (!event) throw new Error('the event belongs to somebody else')
    return event
  })

/** A part of what is answered for a log, as JSON text. */
export const replayedText = (part: Part, entries: readonly LogEntry[]): string => {
  const view = createReplayView(foldEvents(eventsOf(entries)), {
    tenantId: 'default',
    organizationId: 'default',
    executionId: '1',
    projection: 'all',
    status: null,
  })
  return [...view.partText(part, 'declared')].join('')
}

/** The same as values; ids are small. */
export const replayed = (part: Part, entries: readonly LogEntry[]): unknown =>
  JSON.parse(replayedText(part, entries))
