/** Folded states that replays start from. They save time; losing them loses nothing. */
import type { Database } from './database.ts'

/** Whose snapshot, of which form. */
export interface ReplaySnapshotScope {
  readonly executionId: string
  readonly tenantId: string
  readonly organizationId: string
  readonly format: number
}

export interface ReplaySnapshotFacts {
  readonly lastEventId: string
  readonly eventCount: number
  /** Every position up to here is folded. */
  readonly resumePosition: number
  /** The highest position that is folded. */
  readonly lastPosition: number
  /** How far the log was known when the snapshot was made or last checked. */
  readonly seenPosition: number
  readonly disordered: boolean
  /** As PostgreSQL writes an instant. */
  readonly lastCreatedAt: string
  /** Of the stored bytes, lower-case hexadecimal. */
  readonly sha256: string
}

export interface ReplaySnapshotBounds {
  readonly lastPosition: number
  readonly eventCount: number
  readonly lastEventId: string | null
  readonly createdAt: string | null
}

const FACTS = `last_event_id as "lastEventId", event_count as "eventCount", resume_position as "resumePosition",
  last_position as "lastPosition", seen_position as "seenPosition", disordered, last_created_at::text as "lastCreatedAt", sha256`
const SCOPE = 'execution_id = $1 and tenant_id = $2 and organization_id = $3 and format = $4'

const scopeValues = ({ executionId, tenantId, organizationId, format }: ReplaySnapshotScope): unknown[] => [
  executionId,
  tenantId,
  organizationId,
  format,
]

/** The largest one that holds nothing beyond the bounds. */
export const findReplaySnapshot = async (
  database: Database,
  scope: ReplaySnapshotScope,
  bounds: ReplaySnapshotBounds,
): Promise<ReplaySnapshotFacts | null> => {
  const { rows } = await database.query<ReplaySnapshotFacts>({
    name: 'find-replay-snapshot',
    text: `select ${FACTS} from noetl.replay_snapshot
      where ${SCOPE} and last_position <= $5 and event_count <= $6
        and ($7::bigint is null or last_event_id <= $7) and ($8::timestamptz is null or last_created_at <= $8)
      order by last_event_id desc limit 1`,
    values: [
      ...scopeValues(scope),
      bounds.lastPosition,
      bounds.eventCount,
      bounds.lastEventId,
      bounds.createdAt,
    ],
  })
  return rows[0] ?? null
}

/** The smallest one that holds all events up to this id. */
export const findReplaySnapshotBeyond = async (
  database: Database,
  scope: ReplaySnapshotScope,
  eventId: string,
): Promise<ReplaySnapshotFacts | null> => {
  const { rows } = await database.query<ReplaySnapshotFacts>({
    name: 'find-replay-snapshot-beyond',
    text: `select ${FACTS} from noetl.replay_snapshot where ${SCOPE} and last_event_id >= $5 order by last_event_id limit 1`,
    values: [...scopeValues(scope), eventId],
  })
  return rows[0] ?? null
}

export const readReplaySnapshotState = async (
  database: Database,
  scope: ReplaySnapshotScope,
  lastEventId: string,
): Promise<Buffer | null> => {
  const { rows } = await database.query<{ state: Buffer }>({
    name: 'read-replay-snapshot-state',
    text: `select state from noetl.replay_snapshot where ${SCOPE} and last_event_id = $5`,
    values: [...scopeValues(scope), lastEventId],
  })
  return rows[0]?.state ?? null
}

/** Of two for the same events the one that knew more of the log stays. */
export const writeReplaySnapshot = async (
  database: Database,
  scope: ReplaySnapshotScope,
  facts: ReplaySnapshotFacts,
  state: Buffer,
): Promise<void> => {
  await database.query({
    name: 'write-replay-snapshot',
    text: `insert into noetl.replay_snapshot as s (execution_id, tenant_id, organization_id, format, last_event_id, event_count,
        resume_position, last_position, seen_position, disordered, last_created_at, sha256, state)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      on conflict (execution_id, tenant_id, organization_id, last_event_id) do update
      set format = excluded.format, event_count = excluded.event_count, resume_position = excluded.resume_position,
        last_position = excluded.last_position, seen_position = excluded.seen_position, disordered = excluded.disordered,
        last_created_at = excluded.last_created_at, sha256 = excluded.sha256, state = excluded.state
      where excluded.seen_position > s.seen_position or excluded.format <> s.format`,
    values: [
      ...scopeValues(scope),
      facts.lastEventId,
      facts.eventCount,
      facts.resumePosition,
      facts.lastPosition,
      facts.seenPosition,
      facts.disordered,
      facts.lastCreatedAt,
      facts.sha256,
      state,
    ],
  })
}

/** Notes that the very same snapshot was found valid for a longer log. */
export const extendReplaySnapshot = async (
  database: Database,
  scope: ReplaySnapshotScope,
  { lastEventId, sha256 }: ReplaySnapshotFacts,
  seenPosition: number,
): Promise<void> => {
  await database.query({
    name: 'extend-replay-snapshot',
    text: `update noetl.replay_snapshot set seen_position = $7
      where ${SCOPE} and last_event_id = $5 and sha256 = $6 and seen_position < $7`,
    values: [...scopeValues(scope), lastEventId, sha256, seenPosition],
  })
}

export const deleteReplaySnapshot = async (
  database: Database,
  scope: ReplaySnapshotScope,
  { lastEventId, sha256 }: ReplaySnapshotFacts,
): Promise<void> => {
  await database.query({
    name: 'delete-replay-snapshot',
    text: `delete from noetl.replay_snapshot where ${SCOPE} and last_event_id = $5 and sha256 = $6`,
    values: [...scopeValues(scope), lastEventId, sha256],
  })
}
