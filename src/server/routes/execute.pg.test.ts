import { describe, expect, test } from 'vitest'
import { chain, loopOver, single } from '../../../test/support/playbooks.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { textOf } from '../../../test/support/server.ts'
import type { Json } from '../../contract/json.ts'
import { readEvents } from '../../store/events.ts'
import { listExecutions } from '../../store/executions.ts'

const server = useServer()
const execute = (body: object) => server().post('/api/execute', body)

const HEADER = 'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: x, path: PATH }\n'

describe('starting', () => {
  test('answers the id as text and the number of commands', async () => {
    await server().register(single('go/single'))
    const { status, body, text } = await execute({ path: 'go/single' })
    expect(status).toBe(200)
    expect(body).toEqual({
      execution_id: expect.stringMatching(/^\d{17,19}$/) as string,
      status: 'started',
      commands_generated: 1,
    })
    expect(text).toContain(`"execution_id":"${textOf(body['execution_id'])}"`)
  })

  test('takes a catalog id as text or integer, which wins over the path', async () => {
    const catalogId = await server().register(single('go/by-id'))
    await server().register(chain('go/by-id', 2))
    for (const given of [catalogId, ` ${catalogId} `])
      expect((await execute({ catalog_id: given, path: 'nowhere' })).status).toBe(200)
    const { body } = await server().send('POST', '/api/execute', `{"catalog_id":${catalogId}}`)
    const { body: detail, text } = await server().get(`/api/executions/${textOf(body['execution_id'])}`)
    expect(detail).toMatchObject({ version: 1, catalog_id: catalogId })
    expect(text).toContain(`"catalog_id":${catalogId},`)
  })

  test('takes a version, else the newest', async () => {
    await server().register(single('go/version'))
    await server().register(single('go/version'))
    const versions = [{ version: 1 }, { version: '1' }, { version: 'latest' }, {}]
    const started = await Promise.all(versions.map((version) => execute({ path: 'go/version', ...version })))
    const details = await Promise.all(
      started.map(({ body }) => server().get(`/api/executions/${textOf(body['execution_id'])}`)),
    )
    expect(details.map(({ body }) => body['version'])).toEqual([1, 1, 2, 2])
  })

  test('overlays the defaults of the playbook by the payload, under any of its names', async () => {
    await server().register(
      `${HEADER.replace('PATH', 'go/payload')}workload: { a: 1, b: { c: 2 } }\nworkflow:\n  - step: start\n    tool: { kind: python, code: x }\n`,
    )
    for (const name of ['payload', 'workload', 'args']) {
      const { body } = await execute({
        path: 'go/payload',
        [name]: { b: 3, z: 'new', big: '9223372036854775807' },
      })
      const { body: detail } = await server().get(`/api/executions/${textOf(body['execution_id'])}`)
      expect(detail['workload']).toEqual({ a: 1, b: 3, z: 'new', big: '9223372036854775807' })
    }
    expect(await execute({ path: 'go/payload', payload: {}, workload: {} })).toMatchObject({
      status: 422,
      body: { error: "'payload' and its other name 'workload' are both given; send one" },
    })
    // Clients that fill both mean the payload.
    const { body } = await execute({ path: 'go/payload', workload: { a: 5 }, args: { a: 6 } })
    const { body: both } = await server().get(`/api/executions/${textOf(body['execution_id'])}`)
    expect(both['workload']).toEqual({ a: 5, b: { c: 2 } })
  })

  test('hides secrets of the payload in every answer', async () => {
    await server().register(single('go/secret'))
    const { body } = await execute({
      path: 'go/secret',
      payload: { password: 'hunter2', page_token: 'fine' },
    })
    const { body: detail, text } = await server().get(`/api/executions/${textOf(body['execution_id'])}`)
    expect(detail['workload']).toEqual({ password: '[REDACTED]', page_token: 'fine' })
    expect(text).not.toContain('hunter2')
  })

  test('chooses the pool by name, else by the path', async () => {
    for (const path of ['go/pool', 'system/pool', 'subscription/pool', 'system'])
      await server().register(single(path))
    const cases: [object, string][] = [
      [{ path: 'go/pool' }, 'shared'],
      [{ path: 'go/pool', execution_pool: 'gpu' }, 'gpu'],
      [{ path: 'go/pool', execution_pool: '  ' }, 'shared'],
      [{ path: 'system/pool' }, 'system'],
      [{ path: 'subscription/pool' }, 'subscription'],
      [{ path: 'system' }, 'shared'],
    ]
    for (const [body, pool] of cases) {
      const { body: started } = await execute(body)
      const { rows } = await server().core.shards.cluster.query(
        'select pool from noetl.command where execution_id = $1',
        [started['execution_id']],
      )
      expect(rows).toEqual([{ pool }])
    }
  })

  test('counts the collection of a loop on the entry step', async () => {
    await server().register(loopOver('go/loop', 25))
    expect((await execute({ path: 'go/loop' })).body['commands_generated']).toBe(25)
  })

  test('records a parent', async () => {
    await server().register(single('go/child'))
    const parent = textOf((await execute({ path: 'go/child' })).body['execution_id'])
    const { body } = await server().send(
      'POST',
      '/api/execute',
      `{"path":"go/child","parent_execution_id":${parent}}`,
    )
    const { body: detail, text } = await server().get(`/api/executions/${textOf(body['execution_id'])}`)
    expect(detail['parent_execution_id']).toBe(parent)
    expect(text).toContain(`"parent_execution_id":${parent},`)
  })
})

describe('refusing to start', () => {
  test.each([
    [{}, 422, "Either 'path' or 'catalog_id' must be provided"],
    [{ path: '' }, 422, "Either 'path' or 'catalog_id' must be provided"],
    [{ path: 'nowhere' }, 404, 'Playbook not found: nowhere'],
    [{ path: 'nowhere', version: 7 }, 404, 'Playbook not found: nowhere version 7'],
    [{ path: 'nowhere', version: 'x' }, 422, 'Invalid version number'],
    [{ catalog_id: '12' }, 404, 'Catalog entry not found: 12'],
    [{ catalog_id: 'abc' }, 422, 'Invalid catalog_id'],
    [{ catalog_id: 1.5 }, 422, 'Invalid catalog_id'],
    [{ catalog_id: '9223372036854775808' }, 422, 'Invalid catalog_id'],
    [{ catalog_id: true }, 422, null],
    [{ catalog_id: [1] }, 422, null],
    [{ path: 5 }, 422, null],
    [{ path: 'x', payload: [] }, 422, null],
    [{ path: 'x', payload: null }, 422, null],
    [{ path: 'x', payload: 'text' }, 422, null],
    [{ path: 'x', workload: 1 }, 422, null],
    [{ path: 'x', parent_execution_id: 'y' }, 422, 'Invalid parent_execution_id'],
  ])('%j gives %i', async (body, status, error) => {
    const answer = await execute(body)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({ status, code: status === 404 ? 'not_found' : 'invalid' })
    if (error !== null) expect(answer.body['error']).toBe(error)
  })

  test('a document that is no playbook gives 422', async () => {
    const id = await server().register('kind: Agent\nmetadata: { name: go/agent }\n')
    expect(await execute({ catalog_id: id })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('kind agent') as string },
    })
  })

  test('an entry that does not hold to the language any more gives 422 with its problems', async () => {
    const id = await server().register(single('go/old'))
    await server().core.shards.cluster.query(
      `update noetl.catalog set content = 'kind: Playbook' where catalog_id = $1`,
      [id],
    )
    const { status, body } = await execute({ path: 'go/old' })
    expect(status).toBe(422)
    expect(body['details']).toMatchObject({
      problems: expect.arrayContaining([expect.objectContaining({ severity: 'error', line: 1 })]) as object[],
    })
  })

  test('a loop over something that is no list starts nothing', async () => {
    await server().register(
      `${HEADER.replace('PATH', 'go/no-list')}workload: { items: 5 }\nworkflow:\n  - step: start\n    loop: { in: "{{ items }}", iterator: i }\n    tool: { kind: noop }\n`,
    )
    const words: [object, string][] = [
      [{}, 'number'],
      [{ items: null }, 'null'],
      [{ items: true }, 'bool'],
      [{ items: 'abc' }, 'string'],
      [{ items: {} }, 'object'],
    ]
    for (const [payload, word] of words) {
      expect(await execute({ path: 'go/no-list', payload })).toMatchObject({
        status: 422,
        body: { error: `start step loop.in must resolve to a JSON array, got: ${word}` },
      })
    }
    const filter = {
      status: null,
      catalogId: null,
      path: 'go/no-list',
      parentExecutionId: null,
      limit: 10,
      offset: 0,
    }
    expect(await listExecutions(server().core.shards.cluster, filter)).toEqual([])
    expect(
      (await execute({ path: 'go/no-list', payload: { items: [1, 2] } })).body['commands_generated'],
    ).toBe(2)
  })

  test('a first command that cannot be built gives 422 and an execution that tells why', async () => {
    await server().register(
      `${HEADER.replace('PATH', 'go/broken')}workflow:\n  - step: start\n    tool: { kind: noop, result: "{{ 1 / 0 }}" }\n`,
    )
    const { status, body } = await execute({ path: 'go/broken' })
    expect(status).toBe(422)
    const { execution_id: id } = body['details'] as { execution_id: string }
    expect((await server().get(`/api/executions/${id}`)).body).toMatchObject({
      status: 'FAILED',
      error: body['error'],
    })
    expect(body['error']).toMatch(/^Orchestrator evaluate failed: /)
  })
})

describe('the trace of the caller', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const other = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const recorded = async (given: Json | undefined): Promise<unknown> => {
    const id = textOf(given)
    const [first] = await readEvents(server().core.shards.of(id), id, { limit: 1 })
    return first?.meta['trace']
  }
  const start = async (body: object, headers: Record<string, string>, path = '') => {
    await server().register(single('go/traced'))
    return (await server().send('POST', `/api/execute${path}`, JSON.stringify(body), headers)).body
  }

  test('comes with the standard headers', async () => {
    const { execution_id } = await start({ path: 'go/traced' }, { traceparent, tracestate: 'a=1' })
    expect(await recorded(execution_id)).toEqual({ traceparent, tracestate: 'a=1' })
  })

  test('in the body wins over the headers', async () => {
    const trace = { traceparent: other }
    const { execution_id } = await start({ path: 'go/traced', trace }, { traceparent, tracestate: 'a=1' })
    expect(await recorded(execution_id)).toEqual(trace)
  })

  test('that is not valid is ignored', async () => {
    const { execution_id } = await start({ path: 'go/traced' }, { traceparent: 'nonsense' })
    expect(await recorded(execution_id)).toBeUndefined()
  })

  test('is that of every item of a batch that has none of its own', async () => {
    const executions = [{ path: 'go/traced' }, { path: 'go/traced', trace: { traceparent: other } }]
    const { results } = await start({ executions }, { traceparent }, '/batch')
    const ids = (results as { execution_id: string }[]).map(({ execution_id }) => execution_id)
    expect(await Promise.all(ids.map(recorded))).toEqual([{ traceparent }, { traceparent: other }])
  })
})
