/**
 * The state of an execution from the store: the nearest snapshot plus the events after it. And back: snapshots.
 *
 * 1. Whatever snapshot it starts from, the state is the fold of the whole log.
 * 2. Snapshots stand along the log, so that the state at any position is near one. They are as far apart as their size
 *    asks for: written bytes per event stay bounded, however large a state grows.
 * 3. A snapshot that cannot be read costs time and nothing else: the one before it is taken, or none. It stays where it
 *    is, for the doctor to find.
 * 4. A stretch that has no snapshot, because it is older than this rule or the state is very large, gets one when
 *    somebody looks at it.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { ProblemError } from '../contract/problem.ts'
import type { State } from '../engine/state.ts'
import { createState } from '../engine/state.ts'
import { evolve } from '../engine/evolve.ts'
import { decodeState, encodeState } from '../engine/snapshot.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Database } from '../store/database.ts'
import { isImported } from '../store/executions.ts'
import { readForFold } from '../store/fold-events.ts'
import type { Snapshot } from '../store/snapshots.ts'
import { readSnapshot, writeSnapshot } from '../store/snapshots.ts'

export interface LoadedState {
  readonly state: State
  /** Position of the snapshot it was built from; 0 without one. */
  readonly snapshotPosition: number
}

/** As far as positions count. */
const NEWEST = 2 ** 31 - 1

/** Null when the execution has no events. */
export const loadState = (
  database: Database,
  executionId: string,
  sealer: Sealer,
): Promise<LoadedState | null> => load(database, executionId, sealer, NEWEST)

/** The state of an execution that is to be changed. One that was imported is only shown; changing it is refused. */
export const loadLiveState = async (
  database: Database,
  executionId: string,
  sealer: Sealer,
): Promise<LoadedState | null> => {
  const [loaded, imported] = await Promise.all([
    loadState(database, executionId, sealer),
    isImported(database, executionId),
  ])
  if (loaded && imported)
    throw new ProblemError(
      'conflict',
      `Execution ${executionId} was imported and is only shown here; rerun it instead`,
    )
  return loaded
}

/** The state after the event at a position; null when the execution has no events. */
export const loadStateAt = async (
  database: Database,
  executionId: string,
  sealer: Sealer,
  position: number,
): Promise<State | null> => (await load(database, executionId, sealer, position))?.state ?? null

/** Writes a snapshot of a state of the past that took long to load, for the next one who looks there. */
export const keepNearby = async (database: Database, state: State, sealer: Sealer): Promise<void> => {
  const nearest = written.get(state)?.position ?? 0
  if (state.position - nearest >= WORTH_KEEPING) await store(database, state, sealer)
}

const load = async (
  database: Database,
  executionId: string,
  sealer: Sealer,
  upTo: number,
): Promise<LoadedState | null> => {
  const state = (await nearestState(database, executionId, sealer, upTo)) ?? createState(executionId)
  const snapshotPosition = state.position
  const range = { after: snapshotPosition, upTo, sealer }
  for await (const events of readForFold(database, executionId, range)) {
    // A log that was brought here from elsewhere is not ours to go on with.
    if (state.position === 0 && events[0]?.meta['imported'] === true) return null
    for (const event of events) evolve(state, event)
  }
  return state.position === 0 ? null : { state, snapshotPosition }
}

/** The state of the nearest snapshot that can be read; null when there is none, or it is of another format. */
const nearestState = async (
  database: Database,
  executionId: string,
  sealer: Sealer,
  upTo: number,
): Promise<State | null> => {
  for (let below = upTo; ;) {
    const snapshot = await readSnapshot(database, executionId, below)
    if (!snapshot) return null
    try {
      const text = openSnapshot(snapshot, sealer)
      const state = decodeState(text)
      if (state) written.set(state, { position: state.position, length: text.length })
      return state
    } catch {
      below = snapshot.position - 1
    }
  }
}

/** Events between two snapshots, at least. */
const RUNG = 500
/** A stretch this long without a snapshot is worth one, once somebody looked at its end. */
const WORTH_KEEPING = 2 * RUNG
/**
 * Characters of snapshots that an event may cost. Writing them is a few microseconds of work; compressed they are a
 * fraction of what the event itself takes.
 */
const LENGTH_PER_EVENT = 2000

/** The last snapshot of a state that was written or read. */
const written = new WeakMap<State, { readonly position: number; readonly length: number }>()

/** Whether it is time to think about a snapshot. */
export const isSnapshotDue = (position: number, lastSnapshot: number): boolean =>
  position - lastSnapshot >= RUNG

/** Writes a snapshot, unless the state is too large for another one so soon. */
export const saveSnapshot = async (database: Database, state: State, sealer: Sealer): Promise<void> => {
  const last = written.get(state)
  if (last && (state.position - last.position) * LENGTH_PER_EVENT < last.length) return
  await store(database, state, sealer)
}

const store = async (database: Database, state: State, sealer: Sealer): Promise<void> => {
  const { position } = state
  const text = encodeState(state)
  written.set(state, { position, length: text.length })
  const sealed = sealer.seal(zstdCompressSync(text, { params: QUICKLY }).toString('base64'))
  await writeSnapshot(database, state.executionId, { position, state: sealed })
}

/** States repeat themselves: even the quickest level makes a tenth of them. */
const QUICKLY = { [constants.ZSTD_c_compressionLevel]: 1 }

/** The text of a snapshot. Those of earlier versions are not compressed. */
export const openSnapshot = ({ state }: Snapshot, sealer: Sealer): string => {
  const text = sealer.open(state)
  return text.startsWith('{') ? text : zstdDecompressSync(Buffer.from(text, 'base64')).toString('utf8')
}
