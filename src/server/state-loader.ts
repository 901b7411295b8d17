/** The state of an execution from the store: newest snapshot plus the events after it. And back: snapshots. */
import type { State } from '../engine/state.ts'
import { createState } from '../engine/state.ts'
import { evolve } from '../engine/evolve.ts'
import { decodeState, encodeState } from '../engine/snapshot.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Database } from '../store/database.ts'
import { readEvents } from '../store/events.ts'
import { readSnapshot, writeSnapshot } from '../store/snapshots.ts'

const PAGE = 5000

export interface LoadedState {
  readonly state: State
  /** Position of the snapshot it was built from; 0 without one. */
  readonly snapshotPosition: number
}

/** Null when the execution has no events. */
export const loadState = async (
  database: Database,
  executionId: string,
  sealer: Sealer,
): Promise<LoadedState | null> => {
  const snapshot = await readSnapshot(database, executionId)
  const restored = snapshot ? decodeState(sealer.open(snapshot.state)) : null
  const state = restored ?? createState(executionId)
  const snapshotPosition = restored ? state.position : 0
  for (;;) {
    const events = await readEvents(database, executionId, { after: state.position, limit: PAGE, sealer })
    for (const event of events) evolve(state, event)
    if (events.length < PAGE) break
  }
  return state.position === 0 ? null : { state, snapshotPosition }
}

const FIRST_SNAPSHOT = 500

/**
 * Snapshots grow with the state, so they are taken at growing distances: at most a third of a log is ever folded
 * again, and an event's share of all snapshots stays constant.
 */
export const isSnapshotDue = (position: number, lastSnapshot: number): boolean =>
  position - lastSnapshot >= Math.max(FIRST_SNAPSHOT, lastSnapshot / 2)

export const saveSnapshot = (database: Database, state: State, sealer: Sealer): Promise<void> =>
  writeSnapshot(database, state.executionId, {
    position: state.position,
    state: sealer.seal(encodeState(state)),
  })
