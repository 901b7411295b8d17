import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { textOf } from '../../../test/support/api-server.ts'
import type { Response } from '../../../test/support/server.ts'
import { createExpiryKeeper } from '../expiry-keeper.ts'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer(2)
let last = 6_000_000_000_000_000_000n

const fresh = (): string => (last += 1n).toString()
const put = (executionId: string, body: unknown, prefix = '/api/result'): Promise<Response> =>
  server().send('PUT', `${prefix}/${executionId}`, body)
const resolve = (ref: unknown, prefix = '/api/result'): Promise<Response> =>
  server().get(`${prefix}/resolve?ref=${encodeURIComponent(String(ref))}`)

describe('storing a result', () => {
  test('answers a reference, its size and its hash', async () => {
    const executionId = fresh()
    const data = { rows: [1, 2, 'ü'] }
    const { status, body } = await put(executionId, {
      name: 'fetch',
      data,
      source_step: 'fetch',
      store: 'kv',
      compress: true,
      correlation: {},
    })
    const text = JSON.stringify(data)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      store: 'db',
      scope: 'execution',
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
      expires_at: null,
      media_type: 'application/json',
    })
    expect(body['ref']).toMatch(new RegExp(`^noetl://execution/${executionId}/result/fetch/\\d+$`))
  })

  test('makes a new one each time', async () => {
    const executionId = fresh()
    const [first, second] = [
      await put(executionId, { name: 'n', data: 1 }),
      await put(executionId, { name: 'n', data: 2 }),
    ]
    expect(first.body['ref']).not.toBe(second.body['ref'])
    expect((await resolve(first.body['ref'])).text).toBe('1')
    expect((await resolve(second.body['ref'])).text).toBe('2')
  })

  test('keeps it sealed', async () => {
    const executionId = fresh()
    await put(executionId, { name: 'n', data: { note: 'quite readable' } })
    const found = await Promise.all(
      server().databases.map((db) =>
        db.query<{ data: Buffer }>('select data from noetl.result where execution_id = $1', [executionId]),
      ),
    )
    const rows = found.flatMap(({ rows }) => rows)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.data.toString('latin1')).not.toContain('readable')
  })

  test('takes more than other routes do, up to 64 MiB', async () => {
    const large = 'x'.repeat(20 * 1024 * 1024)
    const { status, body } = await put(fresh(), { name: 'large', data: large })
    expect(status).toBe(200)
    expect((await resolve(body['ref'])).text).toHaveLength(large.length + 2)
    const tooLarge = await put(fresh(), { name: 'larger', data: 'x'.repeat(64 * 1024 * 1024) })
    expect(tooLarge.status).toBe(413)
    expect(tooLarge.body).toMatchObject({ code: 'too_large', status: 413 })
  })

  test('runs out when it was told to', async () => {
    const executionId = fresh()
    const { body } = await put(executionId, { name: 'n', data: 1, ttl: '1h' })
    expect((Date.parse(textOf(body['expires_at'])) - Date.now()) / 1000).toBeCloseTo(3600, -1)
    const gone = await put(executionId, { name: 'gone', data: 1, ttl: 0 })
    expect((await resolve(gone.body['ref'])).status).toBe(404)
    expect((await server().get(`/api/result/${executionId}/gone`)).status).toBe(404)
    expect((await server().get(`/api/result/${executionId}/list`)).body['count']).toBe(1)
    expect(await createExpiryKeeper(server().core).runOnce()).toBeGreaterThan(0)
    expect(await createExpiryKeeper(server().core).runOnce()).toBe(0)
    expect((await resolve(body['ref'])).status).toBe(200)
  })

  test.each([
    [{ data: 1 }],
    [{ name: 'n' }],
    [{ name: '', data: 1 }],
    [{ name: 5, data: 1 }],
    [{ name: 'x'.repeat(513), data: 1 }],
    [{ name: 'a\0b', data: 1 }],
    [{ name: 'n', data: 1, scope: 'galaxy' }],
    [{ name: 'n', data: 1, ttl: 'soon' }],
    [{ name: 'n', data: 1, source_step: 1 }],
    [[]],
    ['3'],
  ])('refuses %j', async (body) => {
    const answer = await put(fresh(), body)
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ status: 422, code: 'invalid' })
  })

  test('says which scopes there are', async () => {
    expect((await put(fresh(), { name: 'n', data: 1, scope: 'galaxy' })).body['error']).toBe(
      'Invalid scope: galaxy. Use: step, execution, workflow, permanent',
    )
  })

  test('needs a number for an execution', async () => {
    expect((await put('abc', { name: 'n', data: 1 })).status).toBe(400)
  })
})

describe('resolving a reference', () => {
  test.each([null, true, 0, '', 'text', '🔑', [], {}, [1, { a: null }], { password: 'hunter2' }])(
    'gives back %j as it is',
    async (data) => {
      const { body } = await put(fresh(), { name: 'a/b c', data })
      const answer = await resolve(body['ref'])
      expect(answer.status).toBe(200)
      expect(answer.headers['content-type']).toMatch('application/json')
      expect(JSON.parse(answer.text)).toEqual(data)
    },
  )

  test('keeps the order of keys', async () => {
    const { body } = await put(fresh(), '{"name":"n","data":{"z":1,"a":2,"m":3}}')
    expect((await resolve(body['ref'])).text).toBe('{"z":1,"a":2,"m":3}')
  })

  test('works by POST and with a reference object', async () => {
    const { body } = await put(fresh(), { name: 'n', data: [7] })
    for (const ref of [body['ref'], { kind: 'result_ref', ref: body['ref'] }])
      expect((await server().post('/api/result/resolve', { ref })).text).toBe('[7]')
    for (const wrong of [{}, { ref: 5 }, []])
      expect((await server().post('/api/result/resolve', wrong)).status).toBe(422)
  })

  test('finds the stable name', async () => {
    const executionId = fresh()
    const uri = (row: number): string => `noetl://default/default/results/${executionId}/load/0/${row}/1`
    await put(executionId, { name: 'load', data: 'first', uri: uri(1) })
    await put(executionId, { name: 'load', data: 'second', uri: uri(2) })
    expect((await resolve(uri(1))).text).toBe('"first"')
    expect((await resolve(uri(2))).text).toBe('"second"')
    const unclear = await resolve(uri(3))
    expect([unclear.status, unclear.body['error']]).toEqual([
      409,
      "Step 'load' has several results; name one by its stored reference",
    ])
  })

  test('finds the only result of a step by its stable name', async () => {
    const executionId = fresh()
    const uri = `noetl://t/p/results/${executionId}/only/0/0/1`
    expect((await resolve(uri)).status).toBe(404)
    await put(executionId, { name: 'other', data: 'here', source_step: 'only' })
    expect((await resolve(uri)).text).toBe('"here"')
  })

  test.each([
    'nonsense',
    'noetl://execution/1/result/x',
    'noetl://execution/99999999999999999999/result/n/1',
  ])('refuses %s', async (ref) => {
    const { status, body } = await resolve(ref)
    expect([status, body['error']]).toEqual([400, `Not a reference to a result: '${ref}'`])
  })

  test('needs a reference', async () => {
    for (const query of ['', '?ref=', '?ref=a&ref=b'])
      expect((await server().get(`/api/result/resolve${query}`)).status).toBe(400)
  })

  test('of nothing, or of another name or execution, is 404', async () => {
    const { body } = await put(fresh(), { name: 'n', data: 1 })
    const ref = textOf(body['ref'])
    for (const wrong of [
      'noetl://execution/1/result/n/1',
      ref.replace('/n/', '/m/'),
      ref.replace(/execution\/\d+/, `execution/${fresh()}`),
    ]) {
      const answer = await resolve(wrong)
      expect([answer.status, answer.body['error']]).toEqual([404, 'result not found'])
    }
    expect((await resolve('noetl://execution/1/result/a%00/1'.replace('%00', '\0'))).status).toBe(422)
  })
})

describe('finding, listing and deleting', () => {
  test('the newest result of a step is found by its name', async () => {
    const executionId = fresh()
    await put(executionId, { name: 'load', data: 'old' })
    await put(executionId, { name: 'load', data: 'new', media_type: 'text/plain' })
    expect((await server().get(`/api/result/${executionId}/load`)).text).toBe('"new"')
    const meta = await server().get(`/api/result/${executionId}/load?resolve=false`)
    expect(meta.body).toMatchObject({
      name: 'load',
      store: 'db',
      scope: 'execution',
      bytes: 5,
      media_type: 'text/plain',
    })
    const missing = await server().get(`/api/result/${executionId}/nothing`)
    expect([missing.status, missing.body['error']]).toEqual([404, 'Result not found for step: nothing'])
    expect((await server().get('/api/result/abc/load')).status).toBe(400)
  })

  test('a list names every result without its data', async () => {
    const executionId = fresh()
    await put(executionId, { name: 'a', data: 'hunter2', scope: 'step', source_step: 's1' })
    await put(executionId, { name: 'b', data: 'hunter2' })
    const all = await server().get(`/api/result/${executionId}/list`)
    expect(all.body).toMatchObject({
      execution_id: executionId,
      count: 2,
      refs: [{ name: 'a', scope: 'step', source_step: 's1' }, { name: 'b' }],
    })
    expect(all.text).toContain(`"execution_id":"${executionId}"`)
    expect(all.text).not.toContain('hunter2')
    expect((await server().get(`/api/result/${executionId}/list?scope=step`)).body['count']).toBe(1)
    expect((await server().get(`/api/result/${executionId}/list?step_name=s1`)).body['count']).toBe(1)
    expect((await server().get(`/api/result/${executionId}/list?scope=galaxy`)).status).toBe(422)
    expect((await server().get(`/api/result/${executionId}/list?limit=0`)).status).toBe(422)
  })

  test('deleting a scope takes the shorter-lived ones with it and leaves the others', async () => {
    const executionId = fresh()
    for (const scope of ['step', 'execution', 'workflow', 'permanent'])
      await put(executionId, { name: scope, data: 1, scope, source_step: 's' })
    await put(executionId, { name: 'other', data: 1, scope: 'step', source_step: 't' })
    const path = `/api/result/${executionId}`
    expect((await server().send('DELETE', `${path}/step/s`)).body).toEqual({
      execution_id: executionId,
      deleted: 1,
      scope: 'step',
    })
    expect((await server().send('DELETE', path)).body).toEqual({
      execution_id: executionId,
      deleted: 2,
      scope: 'execution',
    })
    expect((await server().send('DELETE', `${path}?scope=workflow`)).body).toMatchObject({ deleted: 1 })
    const left = (await server().get(`${path}/list`)).body['refs'] as JsonObject[]
    expect(left.map((item) => item['name'])).toEqual(['permanent'])
    for (const scope of ['permanent', 'step'])
      expect((await server().send('DELETE', `${path}?scope=${scope}`)).status).toBe(400)
    expect((await server().send('DELETE', `${path}?scope=galaxy`)).status).toBe(422)
  })

  test('the store tells roughly how much it holds', async () => {
    const { body } = await server().get('/api/result/stats')
    expect(body).toMatchObject({ store: 'db' })
    expect(body['bytes_on_disk']).toBeGreaterThan(0)
  })
})

describe('/api/temp', () => {
  test('is the same store', async () => {
    const executionId = fresh()
    const { body } = await put(executionId, { name: 't', data: { a: 1 } }, '/api/temp')
    expect((await resolve(body['ref'], '/api/temp')).text).toBe('{"a":1}')
    expect((await resolve(textOf(body['ref']).replace('/result/', '/tmp/'))).text).toBe('{"a":1}')
    expect((await server().get(`/api/temp/${executionId}/t`)).text).toBe('{"a":1}')
    expect((await server().get(`/api/result/${executionId}/list`)).body['count']).toBe(1)
    expect((await server().send('DELETE', `/api/temp/${executionId}`)).body).toMatchObject({ deleted: 1 })
    expect((await server().get('/api/temp/stats')).status).toBe(200)
  })
})
