/** The list of executions over a long past: what it finds, and how much it reads for that. */
import { beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.ts'
import type { Past } from '../../test/support/many-executions.ts'
import { pastCatalogId, pastId, pastPath, writePast } from '../../test/support/many-executions.ts'
import type { ExecutionFilter } from './execution-list.ts'
import { listStatement } from './execution-list.ts'
import { countByHour, countExecutions } from './execution-counts.ts'
import { listExecutionIds } from './executions.ts'

const database = useDatabase()
const PAST: Past = { executions: 20_000, playbooks: 60, now: Date.parse('2026-11-15T12:00:00.000Z') }
const at = (nth: number): string => new Date(PAST.now - (PAST.executions - nth) * 1000).toISOString()
const id = (nth: number): string => pastId(PAST, nth)

beforeAll(async () => {
  await writePast(database(), PAST, { events: false })
})

const list = (filter: Partial<ExecutionFilter>): Promise<readonly string[]> =>
  listExecutionIds(database(), { limit: 5, offset: 0, ...filter })

const sequence = (from: number, step: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => id(from + index * step))

describe('finds', () => {
  test('the newest first, by cursor and by offset', async () => {
    expect(await list({})).toEqual(sequence(20_000, -1, 5))
    expect(await list({ before: id(19_996) })).toEqual(sequence(19_995, -1, 5))
    expect(await list({ offset: 10 })).toEqual(sequence(19_990, -1, 5))
    expect(await list({ before: id(3) })).toEqual([id(2), id(1)])
  })

  test('what has a status, however long ago', async () => {
    expect(await list({ status: 'FAILED' })).toEqual(sequence(200, -1, 5))
    expect(await list({ status: 'COMPLETED' })).toEqual(sequence(19_950, -1, 5))
    expect(await list({ status: 'RUNNING', offset: 48 })).toEqual(sequence(19_952, -1, 2))
  })

  test('what has a part in its path, in any case, merged over paths and statuses', async () => {
    expect(await list({ path: 'oLd/FORG' })).toEqual(sequence(400, -1, 5))
    expect(await list({ path: 'old/', status: 'CANCELLED' })).toEqual(sequence(250, -1, 5))
    expect(await list({ path: 'old/', status: 'CANCELLED', before: id(202) })).toEqual([id(201)])
    expect(await list({ path: '/job_' })).toEqual(sequence(20_000, -1, 5))
    expect(await list({ path: 'o', limit: 3, offset: 19_998 })).toEqual([id(2), id(1)])
    expect(await list({ path: '%' })).toEqual([])
  })

  test('the runs of an entry and the children of an execution', async () => {
    const ofEntry = await list({ catalogId: pastCatalogId(7, 2), path: pastPath(7) })
    expect(ofEntry).toHaveLength(5)
    const { rows } = await database().query<{ execution_id: string }>(
      'select execution_id from noetl.execution where catalog_id = $1 order by execution_id desc limit 5',
      [pastCatalogId(7, 2)],
    )
    expect(ofEntry).toEqual(rows.map((row) => row.execution_id))
    expect(await list({ catalogId: pastCatalogId(7, 2), path: 'old' })).toEqual([])
    expect(await list({ parentExecutionId: id(1001) })).toEqual(sequence(1990, -10, 5))
    expect(await list({ parentExecutionId: id(1001), status: 'FAILED' })).toEqual([])
    expect(await list({ parentExecutionId: id(1001), path: pastPath((1990 * 7919) % 60) })).toContain(
      id(1990),
    )
  })

  test('what started in a time', async () => {
    expect(await list({ startedBefore: at(101) })).toEqual(sequence(100, -1, 5))
    expect(await list({ startedAfter: at(19_998) })).toEqual(sequence(20_000, -1, 3))
    expect(await list({ startedAfter: at(50), startedBefore: at(52) })).toEqual([id(51), id(50)])
    expect(await list({ startedAfter: at(50), startedBefore: at(50) })).toEqual([])
    expect(
      await list({ startedAfter: '1970-01-01T00:00:00Z', startedBefore: '9999-12-31T23:59:59Z' }),
    ).toHaveLength(5)
  })

  test('ids by their beginning', async () => {
    expect(await list({ idPrefix: id(123) })).toEqual([id(123)])
    const beginning = id(123).slice(0, 12)
    const { rows } = await database().query<{ execution_id: string }>(
      `select execution_id from noetl.execution where execution_id::text like $1 order by execution_id desc limit 5`,
      [`${beginning}%`],
    )
    expect(await list({ idPrefix: beginning })).toEqual(rows.map((row) => row.execution_id))
    for (const nothing of ['0', '7', '9999999999999999999', '000'])
      expect(await list({ idPrefix: nothing })).toEqual([])
    expect(await list({ idPrefix: id(123).slice(0, 4), status: 'FAILED' })).toEqual(sequence(200, -1, 5))
  })
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

type Plan = { readonly 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }
type Explain = (filter: Partial<ExecutionFilter>) => Promise<PlanNode | undefined>

/** Planned for these very values. */
const explain: Explain = async (filter) => {
  const { text, values } = listStatement({ limit: 51, offset: 0, ...filter })
  const { rows } = await database().query<Plan>(`explain (analyze, format json) ${text}`, values)
  return rows[0]?.['QUERY PLAN'][0].Plan
}

/** Planned once for all values, as PostgreSQL does with a statement that comes again and again. */
const explainPrepared: Explain = async (filter) => {
  const { text, values } = listStatement({ limit: 51, offset: 0, ...filter })
  const client = await database().connect()
  try {
    const literals = values.map((value) =>
      client.escapeLiteral(Array.isArray(value) ? `{${value.join(',')}}` : String(value as string | number)),
    )
    await client.query(`set plan_cache_mode = force_generic_plan; prepare listed as ${text}`)
    const { rows } = await client.query<Plan>(
      `explain (analyze, format json) execute listed(${literals.join(', ')})`,
    )
    return rows[0]?.['QUERY PLAN'][0].Plan
  } finally {
    client.release(true)
  }
}

/** Rows of executions that a plan looked at, and the ways it took. */
const workOf = (plan: PlanNode | undefined): { rows: number; scans: readonly string[] } => {
  const scans = plan ? nodesOf(plan).filter((node) => node['Relation Name'] === 'execution') : []
  return {
    rows: scans.reduce(
      (sum, node) =>
        sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    ),
    scans: [...new Set(scans.map((node) => node['Node Type']))],
  }
}

describe('reads little', () => {
  const filters: readonly (readonly [string, Partial<ExecutionFilter>, number])[] = [
    ['the first page', {}, 60],
    ['a page deep down', { before: id(5000) }, 60],
    ['a frequent status', { status: 'COMPLETED' }, 60],
    ['a status that is rare and old', { status: 'FAILED' }, 60],
    ['a rare status, behind a cursor', { status: 'FAILED', before: id(100) }, 60],
    ['an entry of the catalog', { catalogId: pastCatalogId(7, 2) }, 250],
    ['a status of an entry that ran long ago', { catalogId: '1000001', status: 'FAILED' }, 120],
    ['the children of an execution', { parentExecutionId: id(1001) }, 250],
    ['a path that is rare and old', { path: 'forgotten' }, 900],
    ['a path and a status', { path: 'forgotten', status: 'CANCELLED' }, 400],
    ['a part of a path that all have', { path: 'O' }, 600],
    ['a part of a path that none has', { path: 'nowhere' }, 600],
    ['a time long ago', { startedBefore: at(300) }, 200],
    ['a time and a status', { startedBefore: at(150), status: 'FAILED' }, 250],
    ['a short time', { startedAfter: at(9000), startedBefore: at(9010) }, 800],
    ['the beginning of an id', { idPrefix: id(77).slice(0, 13) }, 250],
    ['the beginning of all ids, with a status', { idPrefix: id(77).slice(0, 2), status: 'CANCELLED' }, 250],
  ]

  test.each(filters)('for %s', async (_name, filter, limit) => {
    for (const plan of [await explain(filter), await explainPrepared(filter)]) {
      const { rows, scans } = workOf(plan)
      expect(scans.length).toBeGreaterThan(0)
      expect(scans).not.toContain('Seq Scan')
      expect(rows).toBeLessThan(limit)
    }
  })
})

describe('the overview', () => {
  test('counts what is few, and estimates what is many', async () => {
    const { total, running, failed, cancelled, estimated } = await countExecutions(database())
    expect({ running, failed, cancelled, estimated }).toEqual({
      running: 50,
      failed: 200,
      cancelled: 50,
      estimated: true,
    })
    expect(Math.abs(total - PAST.executions)).toBeLessThan(200)
  })

  test('has the trend of the newest executions only', async () => {
    const { points, truncated } = await countByHour(database(), new Date(PAST.now - 86_400_000))
    expect(truncated).toBe(true)
    expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(10_000)
    const lastHour = await countByHour(database(), new Date(PAST.now - 3_599_000))
    expect(lastHour.truncated).toBe(false)
    expect(lastHour.points.reduce((sum, { count }) => sum + count, 0)).toBe(3600)
  })
})
