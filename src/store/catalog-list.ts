/**
 * Lists of the catalog, newest first, one page at a time.
 *
 * 1. A page is found along an index by the id of the last entry before it: entries that are registered meanwhile do not
 *    shift it.
 */
import type { CatalogRow } from './catalog.ts'
import type { Database } from './database.ts'

export interface CatalogFilter {
  /** In lower case, as it is stored. */
  readonly kind: string | null
  /** Case-insensitive part of the path. */
  readonly path: string | null
  /** Only the newest version of each path. */
  readonly latest: boolean
  readonly archived: boolean
  readonly agents: boolean
  /** All of these. */
  readonly capabilities: readonly string[]
  /** Only ids below this one. */
  readonly before: string | null
  readonly limit: number
}

export interface ListedEntry extends CatalogRow {
  readonly archived_at: string | null
}

const COLUMNS =
  'c.catalog_id, c.path, c.version, c.kind, c.content, c.layout, c.payload, c.meta, c.created_at, c.archived_at'

export const listCatalog = async (
  database: Database,
  filter: CatalogFilter,
): Promise<readonly ListedEntry[]> => {
  const { conditions, values } = conditionsOf(filter)
  const { rows } = await database.query<ListedEntry>(
    `select ${COLUMNS} from noetl.catalog c where ${conditions.join(' and ')}
     order by c.catalog_id desc limit $1`,
    values,
  )
  return rows
}

/** Only the paths, each once, in the order of the newest registration. */
export const listPaths = async (database: Database, kind: string): Promise<readonly string[]> => {
  const { rows } = await database.query<{ path: string }>(
    `select path from noetl.catalog where kind = $1 and archived_at is null
     group by path order by max(catalog_id) desc`,
    [kind],
  )
  return rows.map((row) => row.path)
}

const conditionsOf = (filter: CatalogFilter): { conditions: readonly string[]; values: unknown[] } => {
  const values: unknown[] = [filter.limit]
  const conditions = ['c.removed_at is null']
  const where = (condition: string, value: unknown): void => {
    values.push(value)
    conditions.push(condition.replace('?', `$${values.length}`))
  }
  if (!filter.archived) conditions.push('c.archived_at is null')
  if (filter.before !== null) where('c.catalog_id < ?', filter.before)
  if (filter.kind !== null) where('c.kind = ?', filter.kind)
  if (filter.path !== null) where('position(lower(?) in lower(c.path)) > 0', filter.path)
  if (filter.agents) conditions.push('c.agent')
  if (filter.capabilities.length > 0) where('c.capabilities @> ?::text[]', filter.capabilities)
  if (filter.latest) {
    conditions.push(`not exists (
      select 1 from noetl.catalog n where n.path = c.path and n.version > c.version and n.removed_at is null
        ${filter.archived ? '' : 'and n.archived_at is null'})`)
  }
  return { conditions, values }
}
