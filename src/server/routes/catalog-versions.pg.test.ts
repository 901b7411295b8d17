import { describe, expect, test } from 'vitest'
import { CatalogRestored, CatalogVersions } from '../../contract/api-catalog.ts'
import { single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer()
const post = (verb: string, body: object) => server().post(`/api/catalog/${verb}`, body)
const resource = async (body: object): Promise<number> =>
  (await server().post('/api/catalog/resource', body)).status

describe('deleting', () => {
  test('removes versions that nobody ran', async () => {
    const first = await server().register(single('gone/all'))
    const second = await server().register(single('gone/all'))
    const { status, body } = await post('delete', { path: 'gone/all' })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'success',
        message: "Deleted 2 versions of 'gone/all'.",
        path: 'gone/all',
        deleted: [
          { catalog_id: first, version: 1, archived: false },
          { catalog_id: second, version: 2, archived: false },
        ],
        count: 2,
      },
    })
    expect(CatalogVersions.parse(body)).toEqual(body)
    expect([await resource({ path: 'gone/all' }), await resource({ catalog_id: first })]).toEqual([404, 404])
    expect((await post('restore', { path: 'gone/all' })).status).toBe(404)
    expect((await server().post('/api/execute', { path: 'gone/all' })).status).toBe(404)
  })

  test('of one version leaves the others', async () => {
    await server().register(single('gone/one'))
    await server().register(single('gone/one'))
    expect((await post('delete', { path: 'gone/one', version: '2' })).body['count']).toBe(1)
    expect((await server().post('/api/catalog/resource', { path: 'gone/one' })).body['version']).toBe(1)
    expect(
      (await server().post('/api/catalog/register', { content: single('gone/one') })).body['version'],
    ).toBe(3)
  })

  test('archives what executions ran, which go on, and restoring brings it back', async () => {
    const catalogId = await server().register(single('kept/run'))
    const id = await server().execute('kept/run')
    const { body } = await post('delete', { path: 'kept/run' })
    expect(body).toMatchObject({
      message: "Deleted 1 version of 'kept/run'; 1 version archived because executions ran it.",
      deleted: [{ catalog_id: catalogId, version: 1, archived: true }],
    })
    expect([await resource({ path: 'kept/run' }), await resource({ catalog_id: catalogId })]).toEqual([
      404, 200,
    ])
    expect((await server().post('/api/execute', { path: 'kept/run' })).status).toBe(404)
    await createScriptedWorker(server(), 'w1').drain()
    expect((await server().get(`/api/executions/${id}/status`)).body['status']).toBe('COMPLETED')
    const restored = await post('restore', { path: 'kept/run', version: 1 })
    expect(restored).toMatchObject({
      status: 200,
      body: {
        message: "Restored 1 version of 'kept/run'.",
        count: 1,
        restored: [{ catalog_id: catalogId, version: 1 }],
      },
    })
    expect(CatalogRestored.parse(restored.body)).toEqual(restored.body)
    expect(await resource({ path: 'kept/run' })).toBe(200)
    await server().execute('kept/run')
    await createScriptedWorker(server(), 'w1').drain()
  })

  test('an execution that was starting at that moment still finds its text', async () => {
    await server().register(single('gone/racing'))
    const playbook = await server().core.playbooks.byPath('gone/racing', null)
    await post('delete', { path: 'gone/racing' })
    const input = { payload: {}, parentExecutionId: null, depth: 0, pool: 'shared', trace: null }
    const { executionId } = await server().core.start(playbook, input)
    await createScriptedWorker(server(), 'w1').drain()
    expect((await server().get(`/api/executions/${executionId}/status`)).body['status']).toBe('COMPLETED')
    const { rows } = await server().core.shards.cluster.query('select 1 from noetl.catalog where path = $1', [
      'gone/racing',
    ])
    expect(rows).toHaveLength(1)
  })

  test('deletes for good what was removed long ago, but not what was needed after all', async () => {
    const { cluster } = server().core.shards
    await server().register(single('gone/long-ago'))
    await post('delete', { path: 'gone/long-ago' })
    await cluster.query(
      `update noetl.catalog set removed_at = now() - interval '2 days' where removed_at is not null`,
    )
    await server().register(single('gone/now'))
    await post('delete', { path: 'gone/now' })
    const { rows } = await cluster.query<{ path: string }>(
      `select path from noetl.catalog where path in ('gone/long-ago', 'gone/racing', 'gone/now') order by path`,
    )
    expect(rows.map(({ path }) => path)).toEqual(['gone/now', 'gone/racing'])
    // Somebody runs it, so it can be seen again.
    expect((await post('restore', { path: 'gone/racing' })).body['count']).toBe(1)
  })

  test.each([
    [{}, 422],
    [{ path: '' }, 422],
    [{ path: '  ' }, 422],
    [{ path: 7 }, 422],
    [{ path: 'gone/never' }, 404],
    [{ path: 'gone/one', version: 77 }, 404],
    [{ path: 'gone/one', version: 'newest' }, 422],
    [{ path: 'gone/one', version: -1 }, 422],
    [{ path: '\u0000' }, 422],
  ])('and restoring %j is refused with %i', async (body, status) => {
    expect((await post('delete', body)).status).toBe(status)
    expect((await post('restore', body)).status).toBe(status)
  })
})

describe('DELETE /api/catalog/playbooks/…', () => {
  const remove = (id: string) => server().send('DELETE', `/api/catalog/playbooks/${id}`)

  test('takes a catalog id for one version, and a path for all', async () => {
    const first = await server().register(single('listed/here'))
    await server().register(single('listed/here'))
    await server().register(single('listed/here'))
    expect((await remove(first)).body).toMatchObject({
      path: 'listed/here',
      deleted: [{ catalog_id: first }],
    })
    expect((await remove('listed/here')).body['count']).toBe(2)
    expect(await remove(first)).toMatchObject({
      status: 404,
      body: { error: `Catalog entry '${first}' not found` },
    })
    expect(await remove('listed/here')).toMatchObject({
      status: 404,
      body: { error: "Catalog entry 'listed/here' not found" },
    })
  })

  test('takes a path whose slashes are encoded', async () => {
    await server().register(single('listed/encoded'))
    expect((await remove('listed%2Fencoded')).body['count']).toBe(1)
  })
})
