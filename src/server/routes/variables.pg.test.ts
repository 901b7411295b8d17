import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { textOf } from '../../../test/support/api-server.ts'
import { useServer } from '../../../test/support/server-file.ts'

const server = useServer()
let last = 7_000_000_000_000_000_000n

/** The variables of an execution that nobody else uses. */
const fresh = (): string => `/api/vars/${(last += 1n).toString()}`

const valuesOf = async (path: string): Promise<JsonObject> => {
  const { body } = await server().get(`${path}?include_data=true`)
  return Object.fromEntries(
    (body as unknown as JsonObject[]).map((item) => [textOf(item['var_name']), item['var_value'] ?? null]),
  )
}

describe('setting variables', () => {
  test('takes a list', async () => {
    const path = fresh()
    const variables = [
      { var_name: 'a', var_value: { deep: [1] } },
      { var_name: 'b', var_value: null, var_type: 'computed', source_step: 'fetch' },
    ]
    const { status, body, text } = await server().post(path, { variables })
    expect(status).toBe(200)
    expect(body).toMatchObject({ variables_set: 2, var_names: ['a', 'b'], status: 'ok' })
    expect(text).toContain(`"execution_id":${last}`)
    const list = await server().get(path)
    expect(list.body).toMatchObject([
      {
        var_name: 'a',
        var_type: 'user_defined',
        var_value: { deep: [1] },
        source_step: null,
        access_count: 0,
      },
      { var_name: 'b', var_type: 'computed', var_value: null, source_step: 'fetch' },
    ])
  })

  test('takes names and values with one type for all', async () => {
    const path = fresh()
    await server().post(path, { variables: { x: 1, y: 'two' }, var_type: 'step_result', source_step: 's' })
    expect((await server().get(path)).body).toMatchObject([
      { var_name: 'x', var_value: 1, var_type: 'step_result', source_step: 's' },
      { var_name: 'y', var_value: 'two', var_type: 'step_result', source_step: 's' },
    ])
  })

  test('takes bare names and values', async () => {
    const path = fresh()
    expect((await server().post(path, { counter: 5, flag: true })).body).toMatchObject({ variables_set: 2 })
    expect(await valuesOf(path)).toEqual({ counter: 5, flag: true })
    await server().post(path, { variables: 'a variable of that name' })
    expect(await valuesOf(path)).toMatchObject({ variables: 'a variable of that name' })
  })

  test('again replaces the value; of two with one name the last counts', async () => {
    const path = fresh()
    await server().post(path, { a: 1 })
    const { body } = await server().post(path, {
      variables: [
        { var_name: 'a', var_value: 2 },
        { var_name: ' a ', var_value: 3 },
      ],
    })
    expect(body).toMatchObject({ variables_set: 1 })
    expect(await valuesOf(path)).toEqual({ a: 3 })
  })

  test('takes none at all', async () => {
    for (const body of [{}, { variables: [] }, { variables: {} }])
      expect((await server().post(fresh(), body)).body).toMatchObject({ variables_set: 0, status: 'ok' })
  })

  test('is all or nothing', async () => {
    const path = fresh()
    expect((await server().post(path, { variables: { good: 1, 'b\0d': 2 } })).status).toBe(422)
    expect(await valuesOf(path)).toEqual({})
  })

  test.each([
    [{ variables: [{ var_name: 'a' }] }],
    [{ variables: [{ var_value: 1 }] }],
    [{ variables: [{ var_name: '', var_value: 1 }] }],
    [{ variables: ['a'] }],
    [{ variables: { '': 1 } }],
    [{ '': 1 }],
    [{ ['x'.repeat(600)]: 1 }],
    [{ variables: {}, source_step: 1 }],
    [[{ var_name: 'a', var_value: 1 }]],
    ['"text"'],
    ['7'],
  ])('refuses %j', async (body) => {
    expect((await server().post(fresh(), body)).status).toBe(422)
  })

  test('names the type it does not know', async () => {
    for (const body of [
      { variables: [{ var_name: 'a', var_value: 1, var_type: 'odd' }] },
      { variables: { a: 1 }, var_type: 'odd' },
    ]) {
      const answer = await server().post(fresh(), body)
      expect([answer.status, answer.body['error']]).toEqual([422, 'Invalid var_type: odd'])
    }
  })

  test('needs a number for an execution', async () => {
    for (const method of ['GET', 'POST', 'DELETE'] as const)
      expect((await server().send(method, '/api/vars/abc', method === 'POST' ? {} : undefined)).status).toBe(
        400,
      )
  })
})

describe('reading a variable', () => {
  test('answers in the words of both kinds of client and counts', async () => {
    const path = fresh()
    await server().post(path, { total: [1, 2] })
    await server().get(`${path}/total`)
    const { status, body, text } = await server().get(`${path}/total`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      var_name: 'total',
      var_type: 'user_defined',
      var_value: [1, 2],
      value: [1, 2],
      type: 'user_defined',
      source_step: null,
      access_count: 2,
    })
    expect(text).toContain(`"execution_id":${last}`)
  })

  test('that is not there is 404', async () => {
    const { status, body } = await server().get(`${fresh()}/nothing`)
    expect([status, body['error']]).toEqual([404, `Variable not found: nothing for execution ${last}`])
  })

  test('takes names with spaces, slashes and other scripts', async () => {
    const path = fresh()
    await server().post(path, { 'a b/ü': 1 })
    expect((await server().get(`${path}/${encodeURIComponent('a b/ü')}`)).body).toMatchObject({ value: 1 })
  })
})

describe('sensitive variables', () => {
  test('are hidden in the table and in the list, and whole for who names one or asks for data', async () => {
    const path = fresh()
    await server().post(path, { api_token: 'hunter2', login: { password: 'hunter2', user: 'u' }, plain: 'x' })
    const { rows } = (await server().databases[0]?.query<{ shown: string }>(
      'select var_value::text as shown from noetl.variable',
    )) ?? { rows: [] }
    expect(rows.map(({ shown }) => shown).join()).not.toContain('hunter2')
    expect((await server().get(path)).text).not.toContain('hunter2')
    expect((await server().get(path)).body).toMatchObject([
      { var_name: 'api_token', var_value: '[REDACTED]' },
      { var_name: 'login', var_value: { password: '[REDACTED]', user: 'u' } },
      { var_name: 'plain', var_value: 'x' },
    ])
    expect(await valuesOf(path)).toEqual({
      api_token: 'hunter2',
      login: { password: 'hunter2', user: 'u' },
      plain: 'x',
    })
    expect((await server().get(`${path}/api_token`)).body).toMatchObject({ value: 'hunter2' })
    // Replaced by something harmless, nothing of it stays.
    await server().post(path, { login: 'done' })
    expect((await server().get(`${path}/login`)).body).toMatchObject({ value: 'done' })
  })
})

describe('deleting variables', () => {
  test('one and all', async () => {
    const path = fresh()
    await server().post(path, { a: 1, b: 2, c: 3 })
    expect((await server().send('DELETE', `${path}/a`)).body).toMatchObject({
      var_name: 'a',
      status: 'deleted',
      deleted: true,
    })
    const again = await server().send('DELETE', `${path}/a`)
    expect([again.status, again.body['error']]).toEqual([404, `Variable not found: a for execution ${last}`])
    expect((await server().send('DELETE', path)).body).toMatchObject({
      variables_deleted: 2,
      deleted_count: 2,
      status: 'ok',
    })
    expect((await server().send('DELETE', path)).body).toMatchObject({ variables_deleted: 0 })
    expect((await server().get(path)).body).toEqual([])
  })
})
