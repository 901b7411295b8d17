/**
 * The rows of a log in the order of event ids, in batches, with bounded memory.
 *
 * 1. Positions and ids nearly always go together, so rows are read by position and sorted within a window. Whether
 *    the window was wide enough shows when a row comes that should have come before; the reader then asks for the
 *    sorted reading.
 * 2. The next page is on its way while a batch is used.
 * 3. Every batch says what of the log it completes, which is what a snapshot taken after it stands for.
 */
import type { Database } from '../../store/database.ts'
import type { ReplayLogRow, ReplayRange } from '../../store/replay-events.ts'
import { readReplayPage, readReplaySorted } from '../../store/replay-events.ts'
import { compareEventIds } from '../../replay/projection/replay-event.ts'

const PAGE = 4000
/** Rows that are held back, because one with a smaller id may follow. */
const WINDOW = 1000

export interface OrderedBatch {
  readonly rows: readonly ReplayLogRow[]
  /** Every position up to here is in this batch or in one before it. */
  readonly resumePosition: number
  /** No event up to this position has an id below those of the rows so far, unless a batch has it or had it. */
  readonly seenPosition: number
  /** Every row of the range up to here was read. */
  readonly readPosition: number
}

export interface ReadingOptions {
  readonly pageSize?: number
  readonly window?: number
}

export async function* readByPosition(
  database: Database,
  range: ReplayRange,
  { pageSize = PAGE, window = WINDOW }: ReadingOptions = {},
): AsyncGenerator<OrderedBatch> {
  let held: readonly ReplayLogRow[] = []
  /** Positions read without a gap. */
  let whole = range.after
  let next = readReplayPage(database, range, pageSize)
  for (;;) {
    const page = await next
    const isLast = page.length < pageSize
    const readTo = page.at(-1)?.position ?? range.after
    if (!isLast) {
      next = readReplayPage(database, { ...range, after: readTo }, pageSize)
      // A failure is thrown where the page is awaited, which may be after somebody else's.
      next.catch(() => undefined)
    }
    for (const { position } of page) if (position === whole + 1) whole = position
    const sorted = inIdOrder(held.length === 0 ? page : [...held, ...page])
    const ready = isLast ? sorted : sorted.slice(0, Math.max(0, sorted.length - window))
    held = isLast ? [] : sorted.slice(ready.length)
    const firstHeld = held.reduce(
      (lowest, { position }) => Math.min(lowest, position),
      Number.POSITIVE_INFINITY,
    )
    yield {
      rows: ready,
      resumePosition: Math.min(whole, firstHeld - 1),
      // A row that is too new hides; what was not read is not known.
      seenPosition: range.upToTime !== null ? whole : isLast ? range.upTo : readTo,
      readPosition: isLast ? range.upTo : readTo,
    }
    if (isLast) return
  }
}

/** Sorted by the database. With a limit in time nothing is known of the rows left out. */
export async function* readSorted(
  database: Database,
  range: ReplayRange,
  { pageSize = PAGE }: ReadingOptions = {},
): AsyncGenerator<OrderedBatch> {
  for await (const rows of readReplaySorted(database, range, pageSize))
    yield {
      rows,
      resumePosition: range.after,
      seenPosition: range.upToTime !== null ? 0 : range.upTo,
      readPosition: range.upTo,
    }
}

const inIdOrder = (rows: readonly ReplayLogRow[]): readonly ReplayLogRow[] => {
  for (let index = 1; index < rows.length; index += 1) {
    if (compareEventIds(idAt(rows, index - 1), idAt(rows, index)) > 0)
      return rows.toSorted((left, right) => compareEventIds(left.eventId, right.eventId))
  }
  return rows
}

const idAt = (rows: readonly ReplayLogRow[], index: number): string => rows[index]?.eventId ?? ''
