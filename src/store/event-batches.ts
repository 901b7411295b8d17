/**
 * Keys that make a batch of events repeatable.
 *
 * 1. A key belongs to one batch of one execution for as long as it is kept; who comes later is told what it stands for.
 * 2. The ids of the events are fixed with the key, before anything is written.
 * 3. The first answer that is recorded is the answer; whoever brings another one gets that.
 */
import type { Database } from './database.ts'

export interface BatchKey {
  readonly executionId: string
  readonly key: string
  /** Of what was sent. */
  readonly digest: Buffer
}

export interface StoredBatch {
  readonly digest: Buffer
  /** One per event, in the order of the batch. */
  readonly eventIds: readonly string[]
  /** Null while it is not answered. */
  readonly commandsGenerated: number | null
}

export interface BatchAnswer {
  readonly eventIds: readonly string[]
  readonly commandsGenerated: number
}

/** What the key stands for: this batch with these ids, or an earlier one. Null when there is no such execution. */
export const claimBatch = async (
  database: Database,
  { executionId, key, digest }: BatchKey,
  eventIds: readonly string[],
): Promise<StoredBatch | null> => {
  const { rows } = await database.query<StoredBatch>({
    name: 'claim-event-batch',
    // The update changes nothing: it makes the statement answer the row that is there.
    text: `
      insert into noetl.event_batch (execution_id, key, digest, event_ids)
      select execution_id, $2, $3, $4::bigint[] from noetl.execution where execution_id = $1
      on conflict (execution_id, key) do update set key = excluded.key
      returning digest, event_ids as "eventIds", commands_generated as "commandsGenerated"`,
    values: [executionId, key, digest, eventIds],
  })
  return rows[0] ?? null
}

/** The answer to the batch: the given one unless there is one. */
export const recordBatchAnswer = async (
  database: Database,
  { executionId, key, digest }: BatchKey,
  answer: BatchAnswer,
): Promise<BatchAnswer> => {
  const { rows } = await database.query<BatchAnswer>({
    name: 'record-event-batch',
    text: `
      update noetl.event_batch
      set event_ids = case when commands_generated is null then $4::bigint[] else event_ids end,
        commands_generated = coalesce(commands_generated, $5)
      where execution_id = $1 and key = $2 and digest = $3
      returning event_ids as "eventIds", commands_generated as "commandsGenerated"`,
    values: [executionId, key, digest, answer.eventIds, answer.commandsGenerated],
  })
  return rows[0] ?? answer
}

/** Deletes the oldest keys beyond an age; answers how many. */
export const deleteOldBatches = async (database: Database, hours: number, max: number): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.event_batch where ctid = any (array(
       select ctid from noetl.event_batch where seen_at < now() - $1 * interval '1 hour' order by seen_at limit $2))`,
    [hours, max],
  )
  return rowCount ?? 0
}

/** Those of the ids that are in the log; they were fixed for senders. */
export const findWritten = async (
  database: Database,
  executionId: string,
  eventIds: readonly string[],
): Promise<ReadonlySet<string>> => {
  const { rows } = await database.query<{ event_id: string }>({
    name: 'find-written-events',
    text: 'select event_id from noetl.event where execution_id = $1 and event_id = any ($2::bigint[]) and id_from_sender',
    values: [executionId, eventIds],
  })
  return new Set(rows.map((row) => row.event_id))
}

/**
 * How many commands the engine issued because of events that are in the log. What a decision writes has the event that
 * caused it as its parent, or something that this one caused; all of it stands behind it.
 */
export const countCommandsOf = async (
  database: Database,
  executionId: string,
  eventIds: readonly string[],
): Promise<number> => {
  const { rows } = await database.query<{ count: number }>({
    name: 'count-commands-of',
    text: `
      with recursive own as materialized (
        select event_id, position from noetl.event
        where execution_id = $1 and event_id = any ($2::bigint[]) and id_from_sender
      ), later as materialized (
        select event_id, parent_event_id, event_type from noetl.event
        where execution_id = $1 and position > (select min(position) from own) and parent_event_id is not null
      ), caused (event_id, event_type) as (
        select event_id, null from own
        union all
        select l.event_id, l.event_type from caused c join later l on l.parent_event_id = c.event_id
      )
      select count(*)::int as count from caused where event_type = 'command.issued'`,
    values: [executionId, eventIds],
  })
  return rows[0]?.count ?? 0
}
