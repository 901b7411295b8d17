/** Playbooks and other documents, versioned by path. */
import type { Json } from '../contract/json.ts'
import type { Database } from './database.ts'

export interface CatalogRow {
  readonly catalog_id: string
  readonly path: string
  readonly version: number
  readonly kind: string
  readonly content: string
  readonly layout: Json
  readonly payload: Json
  readonly meta: Json
  readonly created_at: string
}

const COLUMNS = 'catalog_id, path, version, kind, content, layout, payload, meta, created_at'

export interface NewCatalogEntry {
  readonly catalogId: string
  readonly path: string
  readonly kind: string
  readonly content: string
  readonly layout: string | null
  readonly payload: string | null
  readonly meta: string | null
  /** Whether its metadata calls it an agent, and what it says it can do. */
  readonly agent?: boolean
  readonly capabilities?: readonly string[]
}

/** Registers the next version of a path. Two that register at once get different versions. */
export const insertCatalogEntry = async (database: Database, entry: NewCatalogEntry): Promise<CatalogRow> => {
  for (;;) {
    const { rows } = await database.query<CatalogRow>(
      `insert into noetl.catalog (catalog_id, path, version, kind, content, layout, payload, meta, agent, capabilities)
       select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6, $7, $8, $9 from noetl.catalog where path = $2
       on conflict on constraint catalog_path_version do nothing
       returning ${COLUMNS}`,
      [
        entry.catalogId,
        entry.path,
        entry.kind,
        entry.content,
        entry.layout,
        entry.payload,
        entry.meta,
        entry.agent ?? false,
        entry.capabilities ?? [],
      ],
    )
    // Nothing returned: another registration took this version in between.
    if (rows[0]) return rows[0]
  }
}

/** Whatever has this id, also when it was deleted: executions that run go on with it. */
export const readCatalogEntry = async (database: Database, catalogId: string): Promise<CatalogRow | null> => {
  const { rows } = await database.query<CatalogRow>(
    `select ${COLUMNS} from noetl.catalog where catalog_id = $1`,
    [catalogId],
  )
  return rows[0] ?? null
}

/** A version of a path; the newest one when no version is given. */
export const findCatalogEntry = async (
  database: Database,
  path: string,
  version: number | null,
): Promise<CatalogRow | null> => {
  const { rows } = await database.query<CatalogRow>(
    `select ${COLUMNS} from noetl.catalog
     where path = $1 and archived_at is null and ($2::int is null or version = $2) order by version desc limit 1`,
    [path, version],
  )
  return rows[0] ?? null
}

/** Id of the newest version of a path. */
export const findNewestId = async (database: Database, path: string): Promise<string | null> => {
  const { rows } = await database.query<{ catalog_id: string }>({
    name: 'find-newest-id',
    text: 'select catalog_id from noetl.catalog where path = $1 and archived_at is null order by version desc limit 1',
    values: [path],
  })
  return rows[0]?.catalog_id ?? null
}

/** An entry that people may see: archived ones, too, but none that was removed. */
export const showCatalogEntry = async (database: Database, catalogId: string): Promise<CatalogRow | null> => {
  const { rows } = await database.query<CatalogRow>(
    `select ${COLUMNS} from noetl.catalog where catalog_id = $1 and removed_at is null`,
    [catalogId],
  )
  return rows[0] ?? null
}
