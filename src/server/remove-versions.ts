/**
 * Deleting versions from the catalog: what executions ran is archived, the rest is removed (see store/catalog-removal.ts).
 *
 * 1. Versions are archived first, so that nothing new starts with them, and only then looked at for executions.
 */
import { deleteRemoved, archiveVersions, listRemoved, removeVersions } from '../store/catalog-removal.ts'
import type { VersionOfPath } from '../store/catalog-removal.ts'
import { listPinned } from '../store/executions.ts'
import type { Shards } from '../store/shards.ts'

export interface DeletedVersion extends VersionOfPath {
  /** False when nothing of it is left to restore. */
  readonly archived: boolean
}

/** Entries deleted for good at a time. */
const SWEPT = 100

export const deleteVersions = async (
  shards: Shards,
  path: string,
  version: number | null,
): Promise<readonly DeletedVersion[]> => {
  const versions = await archiveVersions(shards.cluster, path, version)
  if (versions.length === 0) return []
  const pinned = await pinnedOf(
    shards,
    versions.map(({ catalog_id }) => catalog_id),
  )
  const free = versions.filter(({ catalog_id }) => !pinned.has(catalog_id))
  await removeVersions(
    shards.cluster,
    free.map(({ catalog_id }) => catalog_id),
  )
  await sweepRemoved(shards)
  return versions.map((each) => ({ ...each, archived: pinned.has(each.catalog_id) }))
}

/** Deletes what was removed long ago. */
const sweepRemoved = async (shards: Shards): Promise<void> => {
  const old = await listRemoved(shards.cluster, SWEPT)
  if (old.length > 0) await deleteRemoved(shards.cluster, old, [...(await pinnedOf(shards, old))])
}

const pinnedOf = async ({ all }: Shards, catalogIds: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set((await Promise.all(all.map((database) => listPinned(database, catalogIds)))).flat())
