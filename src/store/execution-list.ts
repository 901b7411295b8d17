/**
 * The statement that lists executions, newest first. Ids carry their time, so the order of ids is the order of starts.
 *
 * 1. Filters apply before the page is cut.
 * 2. Each filter is a range of an index whose last column is the id, read from its end. Where a filter allows several
 *    values (statuses, paths, beginnings of ids), each combination is a lane of its own, and the lanes are merged.
 * 3. A page of n rows can only come from the n lanes whose newest rows are the newest, so no more lanes are read than
 *    that, however many there are.
 * 4. A part of a path is looked for among the paths that occur, which are found by jumping through the index from one to
 *    the next; rows are not looked at for it.
 * 5. An execution whose start took longer than a few minutes is placed in time by its id.
 */
import type { ExecutionStatus } from '../contract/event.ts'
import { firstSnowflakeAt } from '../lib/snowflake.ts'

export interface ExecutionFilter {
  readonly status?: ExecutionStatus | null
  readonly catalogId?: string | null
  /** Case-insensitive part of the path. */
  readonly path?: string | null
  readonly parentExecutionId?: string | null
  /** Digits that ids begin with. */
  readonly idPrefix?: string | null
  /** ISO-8601; inclusive. */
  readonly startedAfter?: string | null
  /** ISO-8601; exclusive. */
  readonly startedBefore?: string | null
  /** Only ids below this one. */
  readonly before?: string | null
  readonly limit: number
  readonly offset: number
}

interface Statement {
  readonly text: string
  readonly values: unknown[]
}

const STATUSES: readonly ExecutionStatus[] = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']

/** An id is made before its execution starts, rarely by more than an instant. */
const START_MAY_TAKE_MS = 10 * 60_000
/** Clocks of servers differ. */
export const CLOCKS_DIFFER_MS = 60_000
const SMALLEST_ID = -(2n ** 63n)
const LARGEST_ID = 2n ** 63n - 1n
/** Newest executions that are looked at for a part of a path. */
const WALKED = 500
const GENERATED_DIGITS = [16, 17, 18, 19]

type Bind = (value: unknown) => string

/** The ids of a page. Filters of the same kind give the same text. */
export const listStatement = (filter: ExecutionFilter): Statement => {
  const values: unknown[] = []
  const bind: Bind = (value) => `$${values.push(value)}`
  const rows = bind(filter.limit + filter.offset)
  const page = `order by execution_id desc limit ${rows} offset ${bind(filter.offset)}`
  const lanes = lanesOf(filter, bind)
  const others = rowConditions(filter, bind)
  const match = [...lanes.map(({ condition }) => condition), ...others].join(' and ')
  const order = hasStatusLane(filter) ? 'e.status desc, e.execution_id desc' : 'e.execution_id desc'
  const newest = (limit: string): string =>
    `select e.execution_id from noetl.execution e where ${match} order by ${order} limit ${limit}`
  const walk = walkOf(filter, others, rows, bind)
  const expressions = [...(walk === null ? [] : [walk]), ...lanes.flatMap(({ needs }) => needs ?? [])]
  const merged = `select i.execution_id from head lane cross join lateral (${newest(rows)}) i`
  return {
    text: `with recursive ${expressions.map((each) => `${each}, `).join('')}
     candidate as (select * from ${lanes.map(({ source }) => source).join(' cross join ')}
       ${walk === null ? '' : `where (select count(*) from walked) < ${rows}`}),
     head as materialized (
       select lane.*, newest.execution_id as newest_id from candidate lane cross join lateral (${newest('1')}) newest
       order by newest_id desc limit ${rows})
     select execution_id from (${walk === null ? merged : `select execution_id from walked union ${merged}`}) i ${page}`,
    values,
  }
}

/**
 * A part of a path that many have is found soonest among the newest executions. When enough of them have it the lanes
 * are not looked at.
 */
const walkOf = (
  filter: ExecutionFilter,
  conditions: readonly string[],
  rows: string,
  bind: Bind,
): string | null => {
  const { path = null, status = null } = filter
  const [range, another] = idRanges(filter)
  if (!hasPathLane(filter) || path === null || !range || another) return null
  const [low, high] = [bind(range.low), bind(range.high)]
  const match =
    status === null
      ? [`e.execution_id between ${low}::bigint and ${high}::bigint`]
      : ['>=', '<='].map(
          (sign, index) =>
            `(e.status, e.execution_id) ${sign} (${bind(status)}::text, ${index === 0 ? low : high}::bigint)`,
        )
  return `walked as materialized (
       select w.execution_id from (
         select e.execution_id, e.path from noetl.execution e where ${[...match, ...conditions].join(' and ')}
         order by ${status === null ? '' : 'e.status desc, '}e.execution_id desc limit ${WALKED}) w
       where ${contains('w.path', bind(path))} order by w.execution_id desc limit ${rows})`
}

interface Lane {
  /** Gives one row for each lane. */
  readonly source: string
  /** What holds for rows of the lane. */
  readonly condition: string
  /** Expressions that the source refers to. */
  readonly needs?: readonly string[]
}

/** All indexes but the primary key have the status in front of the id. */
const hasStatusLane = ({ status, catalogId, parentExecutionId, path }: ExecutionFilter): boolean =>
  [status, catalogId, parentExecutionId, path].some((value) => value !== undefined && value !== null)

/** An entry of the catalog has one path, and the children of one execution are few: those are looked at instead. */
const hasPathLane = ({ path, catalogId, parentExecutionId }: ExecutionFilter): boolean =>
  (path ?? null) !== null && (catalogId ?? null) === null && (parentExecutionId ?? null) === null

const lanesOf = (filter: ExecutionFilter, bind: Bind): readonly Lane[] => {
  const { status = null, path = null } = filter
  const ranges = idRanges(filter)
  const [low, high] = [bind(ranges.map((range) => range.low)), bind(ranges.map((range) => range.high))]
  const source = `unnest(${low}::bigint[], ${high}::bigint[]) r(low, high)`
  if (!hasStatusLane(filter)) return [{ source, condition: 'e.execution_id between lane.low and lane.high' }]
  const statuses = bind(status === null ? STATUSES : [status])
  const byStatus: Lane = {
    source: `${source} cross join unnest(${statuses}::text[]) s(status)`,
    // Compared as pairs, status and id are a range of every index that has them side by side, and of no other.
    condition:
      '(e.status, e.execution_id) >= (lane.status, lane.low) and (e.status, e.execution_id) <= (lane.status, lane.high)',
  }
  return path !== null && hasPathLane(filter) ? [byStatus, pathLane(bind(path))] : [byStatus]
}

/** One lane for each path that has the text in it. */
const pathLane = (text: string): Lane => ({
  source: 'matching',
  condition: 'e.path collate "C" = lane.path',
  needs: [
    `occurring(path) as (
       (select e.path collate "C" from noetl.execution e order by e.path collate "C" limit 1)
       union all
       select (select e.path collate "C" from noetl.execution e where e.path collate "C" > o.path
               order by e.path collate "C" limit 1)
       from occurring o where o.path is not null)`,
    `matching as materialized (select path from occurring where ${contains('path', text)})`,
  ],
})

const contains = (column: string, text: string): string =>
  `position(lower(${text}::text collate "default") in lower(${column} collate "default")) > 0`

/** What the order of ids does not tell. */
const rowConditions = (filter: ExecutionFilter, bind: Bind): readonly string[] => {
  const { catalogId = null, parentExecutionId = null, path = null } = filter
  const { startedAfter = null, startedBefore = null } = filter
  const conditions: string[] = []
  if (catalogId !== null) conditions.push(`e.catalog_id = ${bind(catalogId)}`)
  if (parentExecutionId !== null) conditions.push(`e.parent_execution_id = ${bind(parentExecutionId)}`)
  if (path !== null && !hasPathLane(filter)) conditions.push(contains('e.path', bind(path)))
  if (startedAfter !== null) conditions.push(`e.started_at >= ${bind(startedAfter)}`)
  if (startedBefore !== null) conditions.push(`e.started_at < ${bind(startedBefore)}`)
  return conditions
}

interface Range {
  readonly low: bigint
  readonly high: bigint
}

/** The stretches of ids that cursor, times and the beginning of an id leave. */
const idRanges = (filter: ExecutionFilter): readonly { readonly low: string; readonly high: string }[] => {
  const { before = null, startedAfter = null, startedBefore = null, idPrefix = null } = filter
  const bounds: Range[] = [{ low: SMALLEST_ID, high: LARGEST_ID }]
  if (before !== null) bounds.push({ low: SMALLEST_ID, high: BigInt(before) - 1n })
  if (startedAfter !== null)
    bounds.push({ low: idAt(Date.parse(startedAfter) - START_MAY_TAKE_MS), high: LARGEST_ID })
  if (startedBefore !== null)
    bounds.push({ low: SMALLEST_ID, high: idAt(Date.parse(startedBefore) + CLOCKS_DIFFER_MS) })
  const beginnings = idPrefix === null ? [{ low: SMALLEST_ID, high: LARGEST_ID }] : beginningWith(idPrefix)
  return beginnings
    .map((range) => bounds.reduce(overlap, range))
    .filter(({ low, high }) => low <= high)
    .map(({ low, high }) => ({ low: low.toString(), high: high.toString() }))
}

const overlap = (a: Range, b: Range): Range => ({
  low: a.low > b.low ? a.low : b.low,
  high: a.high < b.high ? a.high : b.high,
})

const idAt = (unixMs: number): bigint => BigInt(firstSnowflakeAt(unixMs))

/** The very id, and those of the lengths that generated ids have. */
const beginningWith = (digits: string): readonly Range[] => {
  const prefix = BigInt(digits)
  const own = prefix.toString().length
  const longer = prefix === 0n ? [] : GENERATED_DIGITS.filter((length) => length > own)
  return [own, ...longer].map((length) => {
    const scale = 10n ** BigInt(length - own)
    return { low: prefix * scale, high: (prefix + 1n) * scale - 1n }
  })
}
