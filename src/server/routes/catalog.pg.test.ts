import { describe, expect, test } from 'vitest'
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
