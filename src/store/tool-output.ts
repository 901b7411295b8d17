/**
 * The output of tools, kept in pieces.
 *
 * 1. Only the holder of the current lease writes; whoever lost it writes nothing.
 * 2. A piece that arrives twice is kept once.
 * 3. Readers that go on from a cursor miss nothing: pieces are shown once everything that was begun before them is
 *    either there or will never be.
 */
import type { OutputPart, OutputStream } from '../contract/output.ts'
import type { Database } from './database.ts'

export interface OutputToStore extends OutputPart {
  readonly eventId: string
  readonly leaseToken: string
}

export interface OutputRow {
  readonly cursor: string
  readonly event_id: string
  readonly command_id: string
  readonly step: string
  readonly attempt: number
  readonly stream: OutputStream
  readonly at: string
  readonly text: string
}

/** Answers how many pieces were new. */
export const storeOutput = async (
  database: Database,
  workerId: string,
  parts: readonly OutputToStore[],
): Promise<number> => {
  const { rowCount } = await database.query({
    name: 'store-output',
    text: `
      insert into noetl.tool_output (execution_id, event_id, attempt, part, stream, at, text, step, command_id)
      select c.execution_id, c.event_id, c.attempt, o.part, o.stream, o.at, o.text, c.step, c.command_id
      from unnest($2::bigint[], $3::text[], $4::int[], $5::text[], $6::timestamptz[], $7::text[])
        as o(event_id, lease_token, part, stream, at, text)
      join noetl.command c on c.event_id = o.event_id
      where c.status = 'CLAIMED' and c.worker_id = $1 and c.lease_token::text = o.lease_token
      on conflict do nothing`,
    values: [
      workerId,
      parts.map((each) => each.eventId),
      parts.map((each) => each.leaseToken),
      parts.map((each) => each.part),
      parts.map((each) => each.stream),
      parts.map((each) => each.at),
      parts.map((each) => each.text),
    ],
  })
  return rowCount ?? 0
}

export interface OutputFilter {
  readonly step: string | null
  readonly commandId: string | null
  readonly attempt: number | null
  readonly stream: OutputStream | null
  /** Null for the beginning. */
  readonly after: string | null
  readonly limit: number
}

export const readOutput = async (
  database: Database,
  executionId: string,
  { step, commandId, attempt, stream, after, limit }: OutputFilter,
): Promise<readonly OutputRow[]> => {
  const [xact = '0', event = '0', tried = '0', part = '0'] = after?.split('-') ?? []
  const { rows } = await database.query<OutputRow>({
    name: 'read-output',
    text: `
      select concat_ws('-', o.xact::text, o.event_id, o.attempt, o.part) as cursor, o.event_id, o.command_id, o.step,
        o.attempt, o.stream, o.at, o.text
      from noetl.tool_output o
      where o.execution_id = $1
        and (o.xact, o.event_id, o.attempt, o.part) > ($2::xid8, $3::bigint, $4::int, $5::int)
        and o.xact < pg_snapshot_xmin(pg_current_snapshot())
        and ($6::text is null or o.step = $6) and ($7::text is null or o.command_id = $7)
        and ($8::int is null or o.attempt = $8) and ($9::text is null or o.stream = $9)
      order by o.xact, o.event_id, o.attempt, o.part limit $10`,
    values: [executionId, xact, event, tried, part, step, commandId, attempt, stream, limit],
  })
  return rows
}

/** Deletes the oldest pieces beyond an age; answers how many. */
export const deleteOldOutput = async (database: Database, days: number, max: number): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.tool_output where ctid = any (array(
       select ctid from noetl.tool_output where at < now() - $1 * interval '1 day' order by at limit $2))`,
    [days, max],
  )
  return rowCount ?? 0
}
