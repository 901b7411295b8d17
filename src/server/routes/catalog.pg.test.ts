import { describe, expect, test } from 'vitest'
import { CatalogEntry, CatalogPage, Registered } from '../../contract/api-catalog.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { textOf } from '../../../test/support/server.ts'

const server = useServer()
const register = (body: object) => server().post('/api/catalog/register', body)

describe('registering', () => {
  test('gives a path its next version', async () => {
    const first = await register({ content: single('team/first') })
    expect(first).toMatchObject({
      status: 200,
      body: {
        status: 'success',
        message: "Resource 'team/first' version '1' registered.",
        path: 'team/first',
        version: 1,
        kind: 'playbook',
        warnings: [],
      },
    })
    expect(Registered.parse(first.body)).toEqual(first.body)
    expect(first.body['catalog_id']).toMatch(/^\d+$/)
    expect(first.text).toContain(`"catalog_id":"${textOf(first.body['catalog_id'])}"`)
    expect((await register({ content: single('team/first') })).body['version']).toBe(2)
  })

  test('takes base64 of the text', async () => {
    const content = Buffer.from(single('team/base64')).toString('base64')
    expect((await register({ content })).body['path']).toBe('team/base64')
    const stored = await server().post('/api/catalog/resource', { path: 'team/base64' })
    expect(stored.body['content']).toBe(single('team/base64'))
  })

  test('takes other documents as they are', async () => {
    const content = 'kind: Credential\nmetadata: { name: pg_local, labels: { owner: me } }\n'
    expect(await register({ content })).toMatchObject({
      status: 200,
      body: { kind: 'credential', path: 'pg_local' },
    })
    expect((await server().post('/api/catalog/resource', { path: 'pg_local' })).body).toMatchObject({
      meta: { owner: 'me' },
      payload: null,
      layout: null,
    })
  })

  test.each([
    ['text that is not YAML', 'a: [1,\nb: {'],
    ['tabs as indentation', 'metadata:\n\tname: x'],
  ])('refuses %s with 400 and its place', async (_name, content) => {
    const { status, body } = await register({ content })
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'bad_request',
      error: expect.stringMatching(/YAML.* at line \d+, column \d+/) as string,
    })
    const { problems } = body['details'] as { problems: { severity: string; line: number; column: number }[] }
    expect(problems[0]).toMatchObject({ severity: 'error', line: 2, column: 1 })
  })

  test.each([
    ['an empty text', ''],
    ['a text that is no mapping', 'just words'],
    [
      'a playbook without a start',
      'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: x }\nworkflow:\n  - step: first\n',
    ],
    ['an arc to nowhere', `${single('team/nowhere')}    next: { arcs: [{ step: missing }] }\n`],
    ['a document without metadata', 'kind: Credential\n'],
    ['a document without a name', 'kind: Credential\nmetadata: { labels: {} }\n'],
    ['a path that the database cannot hold', 'kind: Credential\nmetadata: { name: "a\\0b" }\n'],
    ['a path that no index can hold', `kind: Credential\nmetadata: { name: ${'a'.repeat(513)} }\n`],
  ])('refuses %s with 422', async (_name, content) => {
    expect(await register({ content })).toMatchObject({ status: 422, body: { code: 'invalid', status: 422 } })
  })

  test('tells all problems of a playbook at once', async () => {
    const content = `${single('team/many')}    next: { arcs: [{ step: missing }, { step: gone }] }\n`
    const { body } = await register({ content })
    const { problems } = body['details'] as { problems: { message: string; line: number }[] }
    expect(problems.filter((problem) => /missing|gone/.test(problem.message))).toHaveLength(2)
    expect(problems.every((problem) => problem.line > 0)).toBe(true)
  })

  test.each([
    {},
    { content: null },
    { content: 5 },
    { content: ['x'] },
    { content: 'kind: x', resource_type: 7 },
  ])('refuses the body %j', async (body) => {
    expect((await register(body)).status).toBe(422)
  })

  test('of one path by many at once gives each a version of its own', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => register({ content: single('team/raced') })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    const versions = answers.map(({ body }) => Number(body['version'])).sort((a, b) => a - b)
    expect(versions).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  test('writes nothing when it refuses', async () => {
    await register({ content: 'kind: Playbook\nmetadata: { name: team/refused }\nworkflow: 7\n' })
    expect((await server().post('/api/catalog/resource', { path: 'team/refused' })).status).toBe(404)
  })
})

describe('looking up', () => {
  test('finds an entry by id in both forms, by path, by version', async () => {
    const catalogId = await server().register(chain('look/up', 2))
    await server().register(chain('look/up', 3))
    const resource = (body: object) => server().post('/api/catalog/resource', body)
    const first = await resource({ catalog_id: catalogId })
    expect(first.body).toMatchObject({
      catalog_id: catalogId,
      path: 'look/up',
      version: 1,
      kind: 'playbook',
      content: chain('look/up', 2),
      payload: null,
      meta: null,
    })
    expect(CatalogEntry.parse(first.body)).toEqual(first.body)
    expect(Object.keys(first.body)).toEqual([
      'catalog_id',
      'path',
      'version',
      'kind',
      'content',
      'layout',
      'payload',
      'meta',
      'created_at',
    ])
    expect(
      (await server().send('POST', '/api/catalog/resource', `{"catalog_id":${catalogId}}`)).body,
    ).toEqual(first.body)
    for (const version of [1, '1'])
      expect((await resource({ path: 'look/up', version })).body).toEqual(first.body)
    for (const version of [undefined, null, '', 'latest', 2, '2'])
      expect((await resource({ path: 'look/up', version })).body['version']).toBe(2)
  })

  test.each([
    [{ catalog_id: 'x' }, 422, 'Invalid catalog_id'],
    [{ catalog_id: 1.5 }, 422, 'Invalid catalog_id'],
    [{ catalog_id: '1' }, 404, "Catalog entry '1' not found"],
    [{}, 422, "Either 'catalog_id' or 'path' must be provided"],
    [{ path: 'nowhere' }, 404, "Catalog entry 'nowhere' not found"],
    [{ path: 'nowhere', version: '3' }, 404, "Catalog entry 'nowhere' version 3 not found"],
    [{ path: 'nowhere', version: 'new' }, 422, 'Invalid version number'],
    [{ path: 'nowhere', version: 0 }, 422, 'Invalid version number'],
    [{ path: 'nowhere', version: 99_999_999_999 }, 422, 'Invalid version number'],
    [{ path: 'nowhere', version: '1e300' }, 422, 'Invalid version number'],
    [{ path: 7 }, 422, null],
    [{ catalog_id: {} }, 422, null],
  ])('answers %j with %i', async (body, status, error) => {
    const answer = await server().post('/api/catalog/resource', body)
    expect(answer.status).toBe(status)
    if (error !== null) expect(answer.body['error']).toBe(error)
  })

  test('lists newest first, by kind in any case', async () => {
    await server().register('kind: Agent\nmetadata: { name: helper }\n')
    const { body } = await server().post('/api/catalog/list', { resource_type: 'AGENT' })
    expect(body).toMatchObject({ entries: [{ path: 'helper', kind: 'agent' }] })
    const all = (await server().post('/api/catalog/list', {})).body['entries'] as { catalog_id: string }[]
    expect(all.map((entry) => entry.catalog_id)).toEqual(
      all.map((entry) => entry.catalog_id).toSorted((a, b) => (BigInt(a) < BigInt(b) ? 1 : -1)),
    )
    expect((await server().post('/api/catalog/list', { resource_type: 'none' })).body).toEqual({
      entries: [],
    })
    expect((await server().post('/api/catalog/list', { resource_type: 1 })).status).toBe(422)
  })
})

describe('lists', () => {
  type Entry = { path: string; version: number; catalog_id: string; archived_at?: string | null }
  const list = async (body: object): Promise<{ entries: readonly Entry[]; next_cursor?: string | null }> => {
    const answer = await server().post('/api/catalog/list', body)
    expect(answer.status).toBe(200)
    expect(CatalogPage.safeParse(answer.body).error).toBeUndefined()
    return answer.body as never
  }
  const names = ({ entries }: { entries: readonly Entry[] }): readonly string[] =>
    entries.map(({ path, version }) => `${path} ${version}`)

  test('take a part of the path, the newest version only, and pages', async () => {
    for (const path of ['pages/a', 'pages/b', 'pages/a', 'pages/c']) await server().register(single(path))
    const here = { path: 'PAGES/' }
    expect(names(await list(here))).toEqual(['pages/c 1', 'pages/a 2', 'pages/b 1', 'pages/a 1'])
    expect(await list(here)).not.toHaveProperty('next_cursor')
    expect(names(await list({ ...here, latest: true }))).toEqual(['pages/c 1', 'pages/a 2', 'pages/b 1'])
    const first = await list({ ...here, limit: 3 })
    expect(names(first)).toEqual(['pages/c 1', 'pages/a 2', 'pages/b 1'])
    expect(first.next_cursor).toBe(first.entries[2]?.catalog_id)
    await server().register(single('pages/d'))
    const second = await list({ ...here, limit: 3, cursor: first.next_cursor })
    expect(second).toMatchObject({ entries: [{ path: 'pages/a', version: 1 }], next_cursor: null })
    expect(await list({ path: 'no/such', limit: 1 })).toEqual({ entries: [], next_cursor: null })
    expect((await list({ limit: 100_000 })).entries.length).toBeLessThanOrEqual(500)
  })

  test('without a limit have everything, however much that is (rule 1)', async () => {
    const { core } = server()
    const before = (await list({})).entries.length
    await core.shards.cluster.query(
      `insert into noetl.catalog (catalog_id, path, version, kind, content)
       select n, 'many/' || n, 1, 'many', 'text' from generate_series(1, 450) n`,
    )
    const { entries } = await list({ resource_type: 'Many' })
    expect(new Set(entries.map(({ path }) => path)).size).toBe(450)
    expect(entries.map(({ path }) => path)[0]).toBe('many/450')
    expect((await list({})).entries).toHaveLength(before + 450)
  })

  test('show archived versions when asked to', async () => {
    await server().register(single('shown/archived'))
    await server().execute('shown/archived')
    await server().post('/api/catalog/delete', { path: 'shown/archived' })
    expect(await list({ path: 'shown/archived' })).toEqual({ entries: [] })
    const { entries } = await list({ path: 'shown/archived', include_archived: true })
    expect(entries).toEqual([expect.objectContaining({ archived_at: expect.stringMatching(/Z$/) as string })])
    expect((await list({ path: 'pages/b', include_archived: true })).entries[0]?.archived_at).toBeNull()
  })

  test('of agents have what says so in its metadata', async () => {
    const agent = (path: string, metadata: string): string =>
      single(path).replace(`path: ${path}`, `path: ${path}, ${metadata}`)
    await server().register(agent('agents/old', 'agent: true, capabilities: [review]'))
    await server().register(agent('agents/release', 'agent: true, capabilities: [review, release]'))
    await server().register(agent('agents/old', 'agent: true, capabilities: [review, 7]'))
    await server().register(agent('agents/not', 'agent: false, capabilities: [review]'))
    const agents = async (body: object) =>
      names((await server().post('/api/catalog/agents/list', body)).body as never)
    expect(await agents({ path: 'agents/' })).toEqual(['agents/old 2', 'agents/release 1'])
    expect(await agents({ capabilities: ['review', 'release'] })).toEqual(['agents/release 1'])
    expect(await agents({ capability: 'review', path: 'old' })).toEqual(['agents/old 2'])
    expect(await agents({ capability: 'cooking' })).toEqual([])
    expect(names(await list({ agent_only: true, path: 'agents/old' }))).toEqual([
      'agents/old 2',
      'agents/old 1',
    ])
    expect((await server().post('/api/catalog/agents/list', { capabilities: 'x' })).status).toBe(422)
  })

  test('of paths have each path once', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const { status, body } = await server().send(method, '/api/catalog/list/Playbook')
      const paths = body as unknown as string[]
      expect(status).toBe(200)
      expect(paths.slice(0, 2)).toEqual(['agents/not', 'agents/old'])
      expect(new Set(paths).size).toBe(paths.length)
    }
    expect((await server().get('/api/catalog/list/nothing')).body).toEqual([])
  })

  test.each([
    { limit: 0 },
    { limit: 1.5 },
    { limit: '5' },
    { cursor: 'x' },
    { cursor: 1.5 },
    { latest: 'yes' },
    { include_archived: 1 },
    { path: 7 },
    { path: '\u0000' },
    { capabilities: [1] },
    [[]],
  ])('are refused for %j', async (body) => {
    expect(await server().post('/api/catalog/list', body)).toMatchObject({
      status: 422,
      body: { code: 'invalid' },
    })
  })
})
