/**
 * Reads a range of the log in the order of ids and folds it, from a snapshot or from nothing, leaving snapshots on
 * the way.
 *
 * 1. A log that turns out not to be nearly in the order of its positions is folded again from the beginning, sorted
 *    by the database.
 * 2. A limit that is reached early proves nothing about what was not read: the rest is searched for ids that belong
 *    before the end.
 * 3. A snapshot is taken only between batches, where it is known what of the log it stands for.
 */
import { foldEvent } from '../../replay/projection/fold.ts'
import type { FoldState } from '../../replay/projection/fold-state.ts'
import { createFoldState } from '../../replay/projection/fold-state.ts'
import type { ReplayScope } from '../../replay/projection/replay-event.ts'
import { compareEventIds, eventOfRow } from '../../replay/projection/replay-event.ts'
import type { Database } from '../../store/database.ts'
import type { ReplayLogRow, ReplayRange } from '../../store/replay-events.ts'
import { hasEarlierIdAfter } from '../../store/replay-events.ts'
import type { OrderedBatch, ReadingOptions } from './ordered-rows.ts'
import { readByPosition, readSorted } from './ordered-rows.ts'
import type { FoundSnapshot, ReplaySnapshots } from './replay-snapshots.ts'

export interface LogToFold {
  readonly database: Database
  readonly range: ReplayRange
  readonly from: FoundSnapshot | null
  readonly scope: ReplayScope
  readonly limit: number
  /** Null when none are to be left. */
  readonly snapshots: ReplaySnapshots | null
  readonly reading: ReadingOptions
}

export interface FoldedLog {
  readonly state: FoldState
  /** The highest position that was folded; 0 without events. */
  readonly lastPosition: number
  /** The first event that the limit left out. */
  readonly nextEventId: string | null
}

interface Progress {
  readonly state: FoldState
  readonly disordered: boolean
  lastPosition: number
  lastCreatedAt: string
  snapshotCount: number
  nextEventId: string | null
}

const begin = (from: FoundSnapshot | null, disordered: boolean): Progress => ({
  state: from?.state ?? createFoldState(),
  disordered,
  lastPosition: from?.facts.lastPosition ?? 0,
  lastCreatedAt: from?.facts.lastCreatedAt ?? '',
  snapshotCount: from?.facts.eventCount ?? 0,
  nextEventId: null,
})

export const foldLog = async (log: LogToFold): Promise<FoldedLog> => {
  const { database, range, from, reading } = log
  if (from?.facts.disordered !== true) {
    const progress = begin(from, false)
    if (await foldBatches(readByPosition(database, range, reading), progress, log)) return progress
  }
  const sorted = from?.facts.disordered === true ? begin(from, true) : begin(null, true)
  const whole = from?.facts.disordered === true ? range : { ...range, after: 0, afterEventId: null }
  if (await foldBatches(readSorted(database, whole, reading), sorted, log)) return sorted
  throw new Error('the database did not sort the events')
}

/** False when an event came that belongs before one that is folded. */
const foldBatches = async (
  batches: AsyncIterable<OrderedBatch>,
  progress: Progress,
  { scope, limit, snapshots, database, range }: LogToFold,
): Promise<boolean> => {
  let seenPosition = 0
  for await (const batch of batches) {
    for (const row of batch.rows) {
      const outcome = foldRow(progress, row, scope, limit)
      if (outcome === 'too late') return false
      if (outcome !== 'beyond the limit') continue
      const place = { position: batch.readPosition, upTo: range.upTo, eventId: row.eventId }
      return place.position >= range.upTo || !(await hasEarlierIdAfter(database, range.executionId, place))
    }
    seenPosition = batch.seenPosition
    if (snapshots) await leaveSnapshot(progress, batch, snapshots)
  }
  await snapshots?.confirmWritten(seenPosition)
  return true
}

const foldRow = (
  progress: Progress,
  row: ReplayLogRow,
  scope: ReplayScope,
  limit: number,
): 'folded' | 'too late' | 'beyond the limit' => {
  const { state } = progress
  const order = state.lastEventId === null ? 1 : compareEventIds(row.eventId, state.lastEventId)
  if (order === 0) return 'folded'
  const event = eventOfRow(row, scope)
  if (event === null) return 'folded'
  if (order < 0) return 'too late'
  if (state.eventCount >= limit) {
    progress.nextEventId = row.eventId
    return 'beyond the limit'
  }
  foldEvent(state, event)
  progress.lastPosition = Math.max(progress.lastPosition, row.position)
  if (row.createdAt > progress.lastCreatedAt) progress.lastCreatedAt = row.createdAt
  return 'folded'
}

const leaveSnapshot = async (
  progress: Progress,
  { resumePosition, seenPosition }: OrderedBatch,
  snapshots: ReplaySnapshots,
): Promise<void> => {
  const { state, lastPosition, lastCreatedAt, disordered, snapshotCount } = progress
  // Beyond what is seen there may be rows that a limit in time hides.
  if (!snapshots.isDue(state.eventCount, snapshotCount) || lastPosition > seenPosition) return
  await snapshots.write(state, { resumePosition, lastPosition, seenPosition, disordered, lastCreatedAt })
  progress.snapshotCount = state.eventCount
}
