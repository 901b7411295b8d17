import { expect, test } from 'vitest'
import { nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import type { NewCatalogEntry } from './catalog.ts'
import {
  findCatalogEntry,
  findNewestId,
  insertCatalogEntry,
  readCatalogEntry,
  showCatalogEntry,
} from './catalog.ts'
import type { CatalogFilter } from './catalog-list.ts'
import { listCatalog, listPaths } from './catalog-list.ts'
import {
  archiveVersions,
  deleteRemoved,
  listRemoved,
  removeVersions,
  restoreVersions,
} from './catalog-removal.ts'

const database = useDatabase()

const anEntry = (path: string, over: Partial<NewCatalogEntry> = {}): NewCatalogEntry => ({
  catalogId: nextTestId(),
  path,
  kind: 'playbook',
  content: `text of ${path}`,
  layout: '[{"step":"start"}]',
  payload: null,
  meta: null,
  ...over,
})

test('versions of a path count from one, whoever registers at the same time', async () => {
  const rows = await Promise.all(
    Array.from({ length: 12 }, () => insertCatalogEntry(database(), anEntry('busy'))),
  )
  expect(rows.map((row) => row.version).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 12 }, (_, index) => index + 1),
  )
})

test('an entry is found by its id, by its version and as the newest', async () => {
  const first = await insertCatalogEntry(database(), anEntry('a/b'))
  const second = await insertCatalogEntry(database(), anEntry('a/b', { content: 'newer' }))
  expect(await readCatalogEntry(database(), first.catalog_id)).toEqual(first)
  expect(await findCatalogEntry(database(), 'a/b', 1)).toEqual(first)
  expect(await findCatalogEntry(database(), 'a/b', null)).toEqual(second)
  expect(await findCatalogEntry(database(), 'a/b', 3)).toBeNull()
  expect(await findCatalogEntry(database(), 'A/B', null)).toBeNull()
  expect(await readCatalogEntry(database(), '1')).toBeNull()
})

const ANY: CatalogFilter = {
  kind: null,
  path: null,
  latest: false,
  archived: false,
  agents: false,
  capabilities: [],
  before: null,
  limit: 1000,
}
const list = async (filter: Partial<CatalogFilter>): Promise<readonly string[]> =>
  (await listCatalog(database(), { ...ANY, ...filter })).map(({ path, version }) => `${path} ${version}`)

test('lists are by kind and newest first', async () => {
  const agent = await insertCatalogEntry(database(), anEntry('agent', { kind: 'agent' }))
  expect(await list({ kind: 'agent' })).toEqual(['agent 1'])
  const all = await listCatalog(database(), ANY)
  expect(all[0]?.catalog_id).toBe(agent.catalog_id)
  expect(all.length).toBeGreaterThan(10)
})

test('lists are filtered before they are cut, and go on behind an id', async () => {
  const skills = { kind: 'skilled', agent: true, capabilities: ['review', 'release'] }
  await insertCatalogEntry(database(), anEntry('list/One', { kind: 'skilled' }))
  await insertCatalogEntry(database(), anEntry('list/two', { kind: 'skilled' }))
  const third = await insertCatalogEntry(database(), anEntry('list/One', skills))
  await insertCatalogEntry(database(), anEntry('list/100%', { kind: 'skilled' }))
  const here = { kind: 'skilled' }
  expect(await list(here)).toEqual(['list/100% 1', 'list/One 2', 'list/two 1', 'list/One 1'])
  expect(await list({ ...here, limit: 2 })).toEqual(['list/100% 1', 'list/One 2'])
  expect(await list({ ...here, before: third.catalog_id })).toEqual(['list/two 1', 'list/One 1'])
  expect(await list({ ...here, path: 'LIST/o' })).toEqual(['list/One 2', 'list/One 1'])
  expect(await list({ ...here, path: '%' })).toEqual(['list/100% 1'])
  expect(await list({ ...here, latest: true })).toEqual(['list/100% 1', 'list/One 2', 'list/two 1'])
  expect(await list({ agents: true })).toEqual(['list/One 2'])
  expect(await list({ capabilities: ['release'] })).toEqual(['list/One 2'])
  expect(await list({ capabilities: ['release', 'cooking'] })).toEqual([])
  expect(await listPaths(database(), 'skilled')).toEqual(['list/100%', 'list/One', 'list/two'])
})

test('an archived version vanishes from lists and lookups, and comes back', async () => {
  const path = 'archive/me'
  const first = await insertCatalogEntry(database(), anEntry(path, { kind: 'archival' }))
  const second = await insertCatalogEntry(database(), anEntry(path, { kind: 'archival' }))
  expect(await archiveVersions(database(), path, 2)).toEqual([{ catalog_id: second.catalog_id, version: 2 }])
  expect(await archiveVersions(database(), path, 2)).toEqual([])
  expect(await findNewestId(database(), path)).toBe(first.catalog_id)
  expect(await findCatalogEntry(database(), path, 2)).toBeNull()
  expect(await list({ kind: 'archival' })).toEqual([`${path} 1`])
  expect(await list({ kind: 'archival', archived: true })).toEqual([`${path} 2`, `${path} 1`])
  expect(await list({ kind: 'archival', archived: true, latest: true })).toEqual([`${path} 2`])
  expect(await list({ kind: 'archival', latest: true })).toEqual([`${path} 1`])
  expect((await showCatalogEntry(database(), second.catalog_id))?.version).toBe(2)
  expect(await archiveVersions(database(), path, null)).toHaveLength(1)
  expect(await listPaths(database(), 'archival')).toEqual([])
  expect((await restoreVersions(database(), path, null)).map(({ version }) => version)).toEqual([1, 2])
  expect(await restoreVersions(database(), path, null)).toEqual([])
  expect(await findNewestId(database(), path)).toBe(second.catalog_id)
})

test('a removed version is seen by executions only, keeps its number and is deleted after a day', async () => {
  const path = 'remove/me'
  const first = await insertCatalogEntry(database(), anEntry(path))
  const second = await insertCatalogEntry(database(), anEntry(path))
  await archiveVersions(database(), path, null)
  const ids = [first.catalog_id, second.catalog_id]
  await removeVersions(database(), ids)
  expect(await showCatalogEntry(database(), first.catalog_id)).toBeNull()
  expect((await readCatalogEntry(database(), first.catalog_id))?.content).toBe(first.content)
  expect(await list({ path, archived: true })).toEqual([])
  expect(await restoreVersions(database(), path, null)).toEqual([])
  expect((await insertCatalogEntry(database(), anEntry(path))).version).toBe(3)
  expect(await listRemoved(database(), 10)).toEqual([])
  await database().query(
    `update noetl.catalog set removed_at = now() - interval '2 days' where removed_at is not null`,
  )
  expect([...(await listRemoved(database(), 10))].sort()).toEqual(ids.toSorted())
  // The second turned out to be needed after all.
  await deleteRemoved(database(), ids, [second.catalog_id])
  expect(await readCatalogEntry(database(), first.catalog_id)).toBeNull()
  expect((await showCatalogEntry(database(), second.catalog_id))?.version).toBe(2)
  expect(await listRemoved(database(), 10)).toEqual([])
})
