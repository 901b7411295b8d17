/**
 * A page of the list of executions, from all shards.
 *
 * 1. A cursor is the id of the last execution of a page: executions that start meanwhile do not shift the next one.
 * 2. A page far from the start reads ids only, and rows for what is shown.
 */
import type { ExecutionFilter } from '../store/execution-list.ts'
import type { ExecutionRow } from '../store/executions.ts'
import { listExecutionIds, listExecutions, readExecutions } from '../store/executions.ts'
import type { Shards } from '../store/shards.ts'

export interface ExecutionPage {
  readonly rows: readonly ExecutionRow[]
  /** Null on the last page. */
  readonly nextCursor: string | null
}

export const pageOfExecutions = async (shards: Shards, filter: ExecutionFilter): Promise<ExecutionPage> => {
  const { limit } = filter
  if (limit === 0) return { rows: [], nextCursor: null }
  const found = await rowsOf(shards, { ...filter, limit: limit + 1 })
  const rows = found.slice(0, limit)
  return { rows, nextCursor: found.length > limit ? (rows.at(-1)?.execution_id ?? null) : null }
}

const rowsOf = async (shards: Shards, filter: ExecutionFilter): Promise<readonly ExecutionRow[]> => {
  const { limit, offset } = filter
  if (shards.all.length === 1) return listExecutions(shards.cluster, filter)
  if (offset === 0) {
    const pages = await Promise.all(shards.all.map((database) => listExecutions(database, filter)))
    return pages.flat().sort(byNewest).slice(0, limit)
  }
  // Any shard may hold the whole page and everything in front of it.
  const wide = { ...filter, limit: limit + offset, offset: 0 }
  const ids = await Promise.all(shards.all.map((database) => listExecutionIds(database, wide)))
  const shown = ids
    .flat()
    .sort(newerId)
    .slice(offset, offset + limit)
  const rows = await Promise.all(
    shards.all.map((database) =>
      readExecutions(
        database,
        shown.filter((id) => shards.of(id) === database),
      ),
    ),
  )
  return rows.flat().sort(byNewest)
}

const byNewest = (a: ExecutionRow, b: ExecutionRow): number => newerId(a.execution_id, b.execution_id)

const newerId = (a: string, b: string): number => {
  const [left, right] = [BigInt(a), BigInt(b)]
  return left < right ? 1 : left > right ? -1 : 0
}
