/**
 * Snapshots of replays: found, checked, written.
 *
 * 1. A snapshot is used only if its bytes have their digest and say what its row says. One that does not is logged,
 *    removed and not used.
 * 2. A snapshot is used only if no event came after it whose id lies before its end. One that is out of date is
 *    removed.
 * 3. Whether there are snapshots changes no answer.
 * 4. They are taken at growing distances, because they grow with the state: at most a tenth of a long log is folded
 *    again, and all of them together are a few times the size of the last one.
 */
import type { FoldState } from '../../replay/projection/fold-state.ts'
import { REPLAY_FORMAT, snapshotLines, stateOfLines } from '../../replay/projection/snapshot.ts'
import type { ReplayScope } from '../../replay/projection/replay-event.ts'
import type { Database } from '../../store/database.ts'
import { hasEarlierIdAfter } from '../../store/replay-events.ts'
import type {
  ReplaySnapshotBounds,
  ReplaySnapshotFacts,
  ReplaySnapshotScope,
} from '../../store/replay-snapshots.ts'
import {
  deleteReplaySnapshot,
  extendReplaySnapshot,
  findReplaySnapshot,
  findReplaySnapshotBeyond,
  readReplaySnapshotState,
  writeReplaySnapshot,
} from '../../store/replay-snapshots.ts'
import type { Log } from '../log.ts'
import { packLines, sha256Of, unpackLines } from './pack-lines.ts'

const FIRST_SNAPSHOT = 5000
const SHARE_FOLDED_AGAIN = 10

export interface FoundSnapshot {
  readonly facts: ReplaySnapshotFacts
  readonly state: FoldState
}

export interface ReplaySnapshots {
  /** The best one to start from within the bounds. */
  below(bounds: ReplaySnapshotBounds): Promise<FoundSnapshot | null>
  /** Beyond this position no event has an id up to this one; null when nobody knows. */
  lastPositionOf(eventId: string): Promise<number | null>
  /** The log was read as far as this position, and nothing in it spoke against what was written. */
  confirmWritten(seenPosition: number): Promise<void>
  isDue(eventCount: number, lastSnapshotCount: number): boolean
  write(
    state: FoldState,
    facts: Omit<ReplaySnapshotFacts, 'sha256' | 'lastEventId' | 'eventCount'>,
  ): Promise<void>
}

export interface ReplaySnapshotOptions {
  readonly database: Database
  readonly log: Log
  readonly executionId: string
  readonly scope: ReplayScope
  /** How far the log goes. */
  readonly lastPosition: number
  /** Events before the first snapshot and between two of a short log. */
  readonly distance?: number
}

export const createReplaySnapshots = (options: ReplaySnapshotOptions): ReplaySnapshots => {
  const { database, log, executionId, lastPosition, distance = FIRST_SNAPSHOT } = options
  const scope: ReplaySnapshotScope = { executionId, ...options.scope, format: REPLAY_FORMAT }

  const isCurrent = async (facts: ReplaySnapshotFacts): Promise<boolean> => {
    if (facts.seenPosition >= lastPosition) return true
    const place = { position: facts.seenPosition, upTo: lastPosition, eventId: facts.lastEventId }
    if (await hasEarlierIdAfter(database, executionId, place)) {
      await deleteReplaySnapshot(database, scope, facts)
      return false
    }
    await extendReplaySnapshot(database, scope, facts, lastPosition)
    return true
  }

  const written: ReplaySnapshotFacts[] = []

  /** Null when it cannot be trusted. */
  const load = async (facts: ReplaySnapshotFacts): Promise<FoldState | null> => {
    const bytes = await readReplaySnapshotState(database, scope, facts.lastEventId)
    if (bytes === null) return null
    const state = sha256Of(bytes) === facts.sha256 ? readState(bytes) : null
    if (state?.lastEventId === facts.lastEventId && state.eventCount === facts.eventCount) return state
    log.warn(
      { execution_id: executionId, event_id: facts.lastEventId },
      'a replay snapshot does not have its digest; it is not used',
    )
    await deleteReplaySnapshot(database, scope, facts)
    return null
  }

  return {
    below: async (bounds) => {
      for (;;) {
        const facts = await findReplaySnapshot(database, scope, bounds)
        if (!facts) return null
        const state = (await isCurrent(facts)) ? await load(facts) : null
        if (state) return { facts, state }
      }
    },
    lastPositionOf: async (eventId) => {
      const facts = await findReplaySnapshotBeyond(database, scope, eventId)
      return facts && (await isCurrent(facts)) ? facts.lastPosition : null
    },
    confirmWritten: async (seenPosition) => {
      for (const facts of written.splice(0))
        if (facts.seenPosition < seenPosition)
          await extendReplaySnapshot(database, scope, facts, seenPosition)
    },
    isDue: (eventCount, lastSnapshotCount) =>
      eventCount - lastSnapshotCount >= Math.max(distance, lastSnapshotCount / SHARE_FOLDED_AGAIN),
    write: async (state, facts) => {
      const { lastEventId, eventCount } = state
      if (lastEventId === null) return
      const { bytes, sha256 } = await packLines(snapshotLines(state))
      const whole = { ...facts, lastEventId, eventCount, sha256 }
      try {
        await writeReplaySnapshot(database, scope, whole, bytes)
        written.push(whole)
      } catch (error) {
        log.warn({ execution_id: executionId, error }, 'replay snapshot not written')
      }
    },
  }
}

const readState = (bytes: Buffer): FoldState | null => {
  try {
    return stateOfLines(unpackLines(bytes))
  } catch {
    // Bytes with the right digest that are no state: as good as none.
    return null
  }
}
