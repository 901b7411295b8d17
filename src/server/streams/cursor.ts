/**
 * A place in the stream of all executions, which outlives connections and servers: an instant, and the oldest execution
 * that ran then or a while before. Whatever changed before the instant was told; whatever changes after it is one of the
 * executions from that one on, or runs.
 *
 * 1. An execution that is over still gets reports of workers that had not heard of its end, and may be opened again: it
 *    counts for `LATE_MS` after it was last seen running.
 */
import { parseId } from '../../contract/ids.ts'
import { firstSnowflakeAt } from '../../lib/snowflake.ts'
import { readMoment } from '../../store/execution-changes.ts'
import type { Shards } from '../../store/shards.ts'

export interface Cursor {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly oldest: string
}

/** Clocks differ, and what was decided a moment ago may be written in a moment. */
const SLACK_MS = 10_000
/** Two leases of the usual length. */
const LATE_MS = 120_000

export const readCursor = async ({ all }: Shards): Promise<Cursor> => {
  const moments = await Promise.all(all.map(readMoment))
  const at = Math.min(...moments.map((moment) => moment.at))
  const oldest = moments
    .map((moment) => BigInt(moment.oldestRunning ?? firstSnowflakeAt(at - LATE_MS)))
    .reduce((least, id) => (id < least ? id : least), BigInt(firstSnowflakeAt(at - LATE_MS)))
  return { at, oldest: String(oldest) }
}

/** Cursors one after the other, each with the oldest execution of those that are not yet `LATE_MS` old (rule 1). */
export const createCursors = (first: Cursor): ((next: Cursor) => Cursor) => {
  let recent: readonly Cursor[] = [first]
  return ({ at, oldest }) => {
    recent = [...recent.filter((cursor) => cursor.at > at - LATE_MS), { at, oldest }]
    const least = recent
      .map((cursor) => BigInt(cursor.oldest))
      .reduce((one, other) => (other < one ? other : one))
    return { at, oldest: String(least) }
  }
}

/** The instant from which on to look, to miss nothing. */
export const sinceOf = ({ at }: Cursor): number => at - SLACK_MS

export const cursorText = ({ at, oldest }: Cursor): string => `${at}-${oldest}`

const LATEST_MS = Date.UTC(9999, 0)

/** Null when the text is no cursor. */
export const parseCursor = (text: string | undefined): Cursor | null => {
  const [, at, oldest] = /^(\d{1,15})-(\d{1,19})$/.exec(text ?? '') ?? []
  if (at === undefined || oldest === undefined || parseId(oldest) === null) return null
  return Number(at) > LATEST_MS ? null : { at: Number(at), oldest }
}
