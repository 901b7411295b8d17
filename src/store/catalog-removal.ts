/**
 * Taking versions out of the catalog, and putting them back.
 *
 * 1. What an execution ran stays readable for it: such a version is archived. It vanishes from lists and from the
 *    lookup by path, and can be restored.
 * 2. What nobody ran is removed. Its text is kept for a day, unseen, for an execution that was starting at that moment;
 *    then it is deleted.
 * 3. A version number is not given again while a trace of it is left.
 */
import type { Database } from './database.ts'

export interface VersionOfPath {
  readonly catalog_id: string
  readonly version: number
}

/** Archives one version of a path, or all of them; answers those that were not archived before. */
export const archiveVersions = async (
  database: Database,
  path: string,
  version: number | null,
): Promise<readonly VersionOfPath[]> => {
  const { rows } = await database.query<VersionOfPath>(
    `update noetl.catalog set archived_at = now()
     where path = $1 and ($2::int is null or version = $2) and archived_at is null returning catalog_id, version`,
    [path, version],
  )
  return rows.toSorted((a, b) => a.version - b.version)
}

/** Entries that are archived and that no execution needs. */
export const removeVersions = async (database: Database, catalogIds: readonly string[]): Promise<void> => {
  await database.query(
    `update noetl.catalog set removed_at = now()
     where catalog_id = any ($1::bigint[]) and archived_at is not null and removed_at is null`,
    [catalogIds],
  )
}

export const restoreVersions = async (
  database: Database,
  path: string,
  version: number | null,
): Promise<readonly VersionOfPath[]> => {
  const { rows } = await database.query<VersionOfPath>(
    `update noetl.catalog set archived_at = null
     where path = $1 and ($2::int is null or version = $2) and archived_at is not null and removed_at is null
     returning catalog_id, version`,
    [path, version],
  )
  return rows.toSorted((a, b) => a.version - b.version)
}

/** Entries that were removed a day ago or earlier, some of them at a time. */
export const listRemoved = async (database: Database, limit: number): Promise<readonly string[]> => {
  const { rows } = await database.query<{ catalog_id: string }>(
    `select catalog_id from noetl.catalog where removed_at < now() - interval '1 day' order by removed_at limit $1`,
    [limit],
  )
  return rows.map((row) => row.catalog_id)
}

/** Deletes removed entries for good; those that turned out to be needed are archived again. */
export const deleteRemoved = async (
  database: Database,
  catalogIds: readonly string[],
  needed: readonly string[],
): Promise<void> => {
  await database.query(
    `with kept as (
       update noetl.catalog set removed_at = null where catalog_id = any ($2::bigint[]) and removed_at is not null)
     delete from noetl.catalog
     where catalog_id = any ($1::bigint[]) and catalog_id <> all ($2::bigint[]) and removed_at is not null`,
    [catalogIds, needed],
  )
}
