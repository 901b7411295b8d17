/**
 * Folds the log of an execution as far as asked for.
 *
 * 1. Events count in the order of ids; a cutoff takes those whose id, time or position is not beyond it.
 * 2. Only events of the tenant and organisation asked for count; for a log without any of them there is no such
 *    execution.
 * 3. Without a cutoff the status is that of the execution's row, read in the same instant as the end of the log. A
 *    limit that was asked for and left events out is a cutoff in this sense; the usual one is not.
 * 4. A limit leaves out the newest events, and the answer says so.
 * 5. Memory is bounded by the state and a few pages of the log.
 */
import { DEFAULT_REPLAY_LIMIT } from '../../contract/api-replay.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { ReplayScope } from '../../replay/projection/replay-event.ts'
import type { Database } from '../../store/database.ts'
import type { ReplayRange } from '../../store/replay-events.ts'
import { hasEventsOf, readReplayHead } from '../../store/replay-events.ts'
import type { ReplaySnapshotFacts } from '../../store/replay-snapshots.ts'
import type { Log } from '../log.ts'
import type { FoldedLog } from './fold-log.ts'
import { foldLog } from './fold-log.ts'
import type { ReadingOptions } from './ordered-rows.ts'
import { createReplaySnapshots } from './replay-snapshots.ts'

/** At most one of them is set. */
export interface ReplayCutoff {
  readonly eventId: string | null
  /** An instant as PostgreSQL reads it. */
  readonly time: string | null
  readonly position: number | null
}

export interface ReplayRequest {
  readonly executionId: string
  readonly scope: ReplayScope
  readonly cutoff: ReplayCutoff
  /** Events to fold at most: Infinity for the whole log, null for as many as usual. */
  readonly limit: number | null
}

export interface Replayed extends FoldedLog {
  /** Of the row of the execution; null at a point of the past, of which the row knows nothing. */
  readonly status: string | null
  readonly snapshot: ReplaySnapshotFacts | null
}

export interface ReplayOptions extends ReadingOptions {
  readonly database: Database
  readonly log: Log
  /** False for a fold of the whole log, and nothing written. */
  readonly useSnapshots?: boolean
  readonly snapshotDistance?: number
}

const MAX_COUNT = 2 ** 31 - 1

export const replay = async (request: ReplayRequest, options: ReplayOptions): Promise<Replayed> => {
  const { executionId, scope, cutoff } = request
  const limit = request.limit ?? DEFAULT_REPLAY_LIMIT
  const { database, log, useSnapshots = true } = options
  const head = await readReplayHead(database, executionId)
  if (head.lastPosition === 0) throw notFound(executionId)
  const snapshots = createReplaySnapshots({
    database,
    log,
    executionId,
    scope,
    lastPosition: head.lastPosition,
    ...(options.snapshotDistance === undefined ? {} : { distance: options.snapshotDistance }),
  })
  const upTo = Math.min(head.lastPosition, cutoff.position ?? head.lastPosition)
  const from = useSnapshots
    ? await snapshots.below({
        lastPosition: upTo,
        eventCount: Math.min(limit, MAX_COUNT),
        lastEventId: cutoff.eventId,
        createdAt: cutoff.time,
      })
    : null
  const known =
    useSnapshots && cutoff.eventId !== null ? await snapshots.lastPositionOf(cutoff.eventId) : null
  const range: ReplayRange = {
    executionId,
    after: from?.facts.resumePosition ?? 0,
    upTo: Math.min(upTo, known ?? upTo),
    afterEventId: from?.facts.lastEventId ?? null,
    upToEventId: cutoff.eventId,
    upToTime: cutoff.time,
  }
  const folded = await foldLog({
    range,
    from,
    scope,
    limit,
    database,
    snapshots: useSnapshots ? snapshots : null,
    reading: options,
  })
  const { state, nextEventId } = folded
  if (
    state.eventCount === 0 &&
    !(await hasEventsOf(database, executionId, scope.tenantId, scope.organizationId))
  )
    throw notFound(executionId)
  const isCut =
    cutoff.eventId !== null ||
    cutoff.time !== null ||
    cutoff.position !== null ||
    (request.limit !== null && nextEventId !== null)
  return { ...folded, status: isCut ? null : head.status, snapshot: from?.facts ?? null }
}

const notFound = (executionId: string): ProblemError =>
  new ProblemError('not_found', `Execution not found: ${executionId}`)
