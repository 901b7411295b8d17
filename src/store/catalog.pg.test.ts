import { expect, test } from 'vitest'
import { nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import type { NewCatalogEntry } from './catalog.ts'
import { findCatalogEntry, insertCatalogEntry, listCatalog, readCatalogEntry } from './catalog.ts'

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

test('lists are by kind and newest first', async () => {
  const agent = await insertCatalogEntry(database(), anEntry('agent', { kind: 'agent' }))
  expect((await listCatalog(database(), 'agent')).map((row) => row.catalog_id)).toEqual([agent.catalog_id])
  const all = await listCatalog(database(), null)
  expect(all[0]?.catalog_id).toBe(agent.catalog_id)
  expect(all.length).toBeGreaterThan(10)
})
