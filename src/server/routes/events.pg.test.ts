import { describe, expect, test } from 'vitest'
import { nextTestId } from '../../../test/support/appends.ts'
import { historyProblems, readLog } from '../../../test/support/history.ts'
import { chain, fanOut, loopOver, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServers } from '../../../test/support/servers.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'

const servers = useServers()

const stage = async (playbook = single('tests/events')): Promise<{ server: TestServer; id: string }> => {
  const server = await servers.start()
  await server.register(playbook)
  return { server, id: await server.execute('tests/events') }
}

const log = ({ core }: TestServer, id: string) => readLog(core.shards.of(id), id)
const anEvent = (id: unknown, over: object = {}) => ({
  execution_id: id,
  step: 'start',
  event_type: 'note',
  ...over,
})

describe('an event', () => {
  test('is stored as it came, with the status its name implies', async () => {
    const { server, id } = await stage()
    const sent = anEvent(id, {
      payload: { z: 1, a: [2], id: '9223372036854775807' },
      meta: { attempts: 2, actionable: 'mine' },
      worker_id: 'w9',
      created_at: '2026-05-06T07:08:09.123456+02:00',
      duration_ms: 12.5,
      event_id: '42',
    })
    const { status, body, text } = await server.post('/api/events', sent)
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'ok', event_id: 42, commands_generated: 0 },
    })
    expect(text).toContain('"event_id":42')
    expect((await log(server, id)).at(-1)).toMatchObject({
      eventId: '42',
      eventType: 'note',
      nodeName: 'start',
      status: 'RUNNING',
      workerId: 'w9',
      durationMs: 12.5,
      createdAt: '2026-05-06T05:08:09.123Z',
      result: { status: 'RUNNING', context: { z: 1, a: [2], id: '9223372036854775807' } },
      meta: { attempts: 2, actionable: true, informative: true, worker_id: 'w9' },
    })
  })

  test('gets an id when it brings none, and its execution is named by text or integer', async () => {
    const { server, id } = await stage()
    const asText = await server.post('/api/events', anEvent(id))
    const asInteger = await server.send(
      'POST',
      '/api/events',
      `{"execution_id":${id},"step":"start","event_type":"note"}`,
    )
    for (const { status, body, text } of [asText, asInteger]) {
      expect(status).toBe(200)
      expect(body['event_id']).toMatch(/^\d{17,19}$/)
      expect(text).toContain(`"event_id":${textOf(body['event_id'])},`)
    }
  })

  test('goes by its other names, one at a time', async () => {
    const { server, id } = await stage()
    expect(
      (
        await server.post('/api/events', {
          execution_id: id,
          node_name: 'start',
          name: 'note',
          context: { x: 1 },
        })
      ).status,
    ).toBe(200)
    expect((await log(server, id)).at(-1)).toMatchObject({
      eventType: 'note',
      nodeName: 'start',
      result: { context: { x: 1 } },
    })
    for (const both of [{ name: 'note' }, { node_name: 'start' }, { payload: {}, context: {} }]) {
      const { status, body } = await server.post('/api/events', anEvent(id, both))
      expect(status).toBe(422)
      expect(body['error']).toContain('are both given; send one')
    }
  })

  test('that repeats an id is acknowledged and not written', async () => {
    const { server, id } = await stage()
    const eventId = nextTestId()
    const event = anEvent(id, { event_id: eventId })
    await server.post('/api/events', event)
    expect(await server.post('/api/events', event)).toMatchObject({
      status: 200,
      body: { event_id: eventId, duplicate: true, commands_generated: 0 },
    })
    expect((await log(server, id)).filter((each) => each.eventId === eventId)).toHaveLength(1)
  })

  test('that ends a command moves the execution on and tells how many commands follow', async () => {
    const { server, id } = await stage(fanOut('tests/events', 3))
    const { status, body } = await server.post(
      '/api/events',
      anEvent(id, { event_type: 'command.completed', payload: { result: { ok: 1 } } }),
    )
    expect({ status, generated: body['commands_generated'] }).toEqual({ status: 200, generated: 3 })
    expect((await server.get(`/api/executions/${id}/status`)).body).toMatchObject({
      progress: { completed_steps: 1, running_steps: 3 },
    })
  })

  test('that could belong to several commands is refused', async () => {
    const { server, id } = await stage(loopOver('tests/events', 3))
    expect(await server.post('/api/events', anEvent(id, { event_type: 'command.completed' }))).toMatchObject({
      status: 422,
      body: { error: "Step 'start' has 3 open commands; name one with command_id" },
    })
  })

  test.each(['lease_token', 'meta'])(
    'with a token that is not current (%s) is refused; the token is not recorded',
    async (place) => {
      const { server, id } = await stage()
      const [command] = await createScriptedWorker(server, 'w1').lease()
      const report = (token: unknown) =>
        server.post(
          '/api/events',
          anEvent(id, {
            event_type: 'command.completed',
            payload: { command_id: command?.commandId },
            ...(place === 'meta' ? { meta: { lease_token: token } } : { lease_token: token }),
          }),
        )
      expect(await report('7')).toMatchObject({ status: 409, body: { code: 'lease_lost' } })
      expect((await report(1)).status).toBe(200)
      expect(JSON.stringify(await log(server, id))).not.toContain('lease_token')
    },
  )

  test('of another worker than the holder is refused, a second claim is a conflict', async () => {
    const { server, id } = await stage()
    const [command] = await createScriptedWorker(server, 'w1').lease()
    const report = (event_type: string, worker_id: string) =>
      server.post(
        '/api/events',
        anEvent(id, { event_type, worker_id, payload: { command_id: command?.commandId } }),
      )
    expect(await report('command.started', 'w2')).toMatchObject({ status: 409, body: { code: 'lease_lost' } })
    expect(await report('command.claimed', 'w2')).toMatchObject({
      status: 409,
      body: { error: 'Command already claimed by w1' },
    })
    expect(await report('command.claimed', 'w1')).toMatchObject({ status: 200, body: { event_id: 0 } })
  })

  test.each(['playbook.failed', 'workflow_completed', 'execution.cancelled'])(
    '%s ends the execution',
    async (eventType) => {
      const { server, id } = await stage()
      expect((await server.post('/api/events', anEvent(id, { event_type: eventType }))).status).toBe(200)
      expect((await server.get(`/api/executions/${id}/status`)).body['status']).not.toBe('RUNNING')
      expect((await server.post('/api/events', anEvent(id))).status).toBe(200)
      expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
    },
  )

  test('keeps a reference to a result that lies elsewhere', async () => {
    const { server, id } = await stage()
    await server.post('/api/events', anEvent(id, { result_kind: 'ref', result_uri: 's3://bucket/key' }))
    await server.send(
      'POST',
      '/api/events',
      `{"execution_id":"${id}","step":"start","event_type":"note","result_kind":"refs","event_ids":[320816801799737344,"2"]}`,
    )
    const [one, many] = (await log(server, id)).slice(-2)
    expect(one?.result?.reference).toEqual({ store_tier: 's3', logical_uri: 's3://bucket/key' })
    expect(many?.result?.reference).toEqual({ event_ids: ['320816801799737344', '2'], total_parts: 2 })
  })

  test.each([
    [{ execution_id: undefined }, 'execution_id must be a string or an integer'],
    [{ execution_id: null }, 'execution_id must be a string or an integer'],
    [{ execution_id: 'abc' }, 'Invalid execution_id'],
    [{ execution_id: 1.5 }, 'Invalid execution_id'],
    [{ execution_id: true }, 'execution_id must be a string or an integer'],
    [{ execution_id: [1] }, 'execution_id must be a string or an integer'],
    [{ execution_id: '99999999999999999999' }, 'Invalid execution_id'],
    [{ event_id: 'x' }, 'Invalid event_id: x'],
    [{ event_id: 1.5 }, 'Invalid event_id: 1.5'],
    [{ step: undefined }, null],
    [{ step: 7 }, null],
    [{ event_type: '' }, null],
    [{ event_type: undefined }, null],
    [{ meta: [] }, 'meta: must be an object'],
    [{ meta: 'text' }, 'meta: must be an object'],
    [{ status: 1 }, null],
    [{ worker_id: {} }, null],
    [{ actionable: 'yes' }, null],
    [{ created_at: 'today' }, null],
    [{ created_at: '2026-02-30T00:00:00Z' }, null],
    [{ created_at: '0000-01-01T00:00:00Z' }, 'created_at: 0000-01-01T00:00:00Z is out of range'],
    [{ duration_ms: '5' }, null],
    [{ result_kind: 'blob' }, null],
    [{ event_ids: [1.5] }, null],
    [{ lease_token: {} }, null],
  ])('of the wrong shape is refused: %j', async (over, error) => {
    const { server, id } = await stage()
    const before = (await log(server, id)).length
    const answer = await server.post('/api/events', anEvent(id, over))
    expect(answer).toMatchObject({ status: 422, body: { status: 422, code: 'invalid' } })
    if (error !== null) expect(answer.body['error']).toBe(error)
    expect((await log(server, id)).length).toBe(before)
  })

  test.each([
    '2026-05-06T07:08:09Z',
    '2026-05-06T07:08:09.1-23:59',
    '0001-01-01T00:00:00Z',
    '9999-12-31T00:00:00Z',
  ])('may be of any instant: %s', async (instant) => {
    const { server, id } = await stage()
    expect((await server.post('/api/events', anEvent(id, { created_at: instant }))).status).toBe(200)
    expect((await log(server, id)).at(-1)?.createdAt).toBe(new Date(instant).toISOString())
  })

  test('of an unknown execution gives 404', async () => {
    const { server } = await stage()
    expect(await server.post('/api/events', anEvent('77'))).toMatchObject({
      status: 404,
      body: { error: 'Execution not found: 77' },
    })
  })
})

describe('a batch', () => {
  const batch = (server: TestServer, execution_id: unknown, events: unknown, over: object = {}) =>
    server.post('/api/events/batch', { execution_id, events, worker_id: 'w1', ...over })
  const item = (over: object = {}) => ({ step: 'start', event_type: 'note', ...over })

  test('is stored in order, in one commit', async () => {
    const { server, id } = await stage()
    let commits = 0
    server.core.onCommit(() => (commits += 1))
    const { status, body, text } = await batch(server, id, [
      item({ payload: { n: 1 } }),
      item({ name: 'other', event_type: undefined }),
      item({ payload: { n: 3 } }),
    ])
    expect({ status, commits, generated: body['commands_generated'] }).toEqual({
      status: 200,
      commits: 1,
      generated: 0,
    })
    const events = (await log(server, id)).slice(-3)
    expect(events.map((event) => event.eventType)).toEqual(['note', 'other', 'note'])
    expect(body['event_ids']).toEqual(events.map((event) => event.eventId))
    expect(text).toContain(`[${events.map((event) => event.eventId).join(',')}]`)
    expect(events[0]).toMatchObject({ workerId: 'w1', meta: { actionable: false, informative: true } })
  })

  test('runs a whole command and tells what follows', async () => {
    const { server, id } = await stage(fanOut('tests/events', 2))
    const { body } = await batch(server, id, [
      item({ event_type: 'command.started' }),
      item({ event_type: 'call.done', payload: { result: { x: 1 } } }),
      item({ event_type: 'command.completed' }),
    ])
    expect(body['commands_generated']).toBe(2)
    expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  })

  test('is accepted whole or not at all', async () => {
    const { server, id } = await stage()
    await createScriptedWorker(server, 'w1').lease()
    const before = await log(server, id)
    expect(
      (await batch(server, id, [item(), item({ event_type: 'command.completed', lease_token: '9' })])).status,
    ).toBe(409)
    expect((await batch(server, id, [item(), item({ step: 5 })])).status).toBe(422)
    expect((await batch(server, id, [item(), 'text'])).status).toBe(422)
    expect(await log(server, id)).toEqual(before)
  })

  test('that is empty is fine before anything is looked at', async () => {
    const { server } = await stage()
    for (const id of ['77', 'abc', null, 1.5]) {
      expect((await batch(server, id, [])).body).toEqual({
        status: 'ok',
        event_ids: [],
        commands_generated: 0,
      })
    }
  })

  test('of an unknown execution gives 404, of no execution 422', async () => {
    const { server } = await stage()
    expect(await batch(server, '77', [item()])).toMatchObject({
      status: 404,
      body: { error: 'Execution not found: 77' },
    })
    expect(await batch(server, 'x', [item()])).toMatchObject({
      status: 422,
      body: { error: 'Invalid execution_id' },
    })
    expect((await batch(server, undefined, [item()])).status).toBe(422)
    expect((await batch(server, '77', 'events')).status).toBe(422)
    expect((await batch(server, '77', undefined)).status).toBe(422)
  })

  test('repeated with its event ids is acknowledged', async () => {
    const { server, id } = await stage()
    const events = [item({ event_id: nextTestId() }), item({ event_id: nextTestId() })]
    const first = await batch(server, id, events)
    expect((await batch(server, id, events)).body['event_ids']).toEqual(first.body['event_ids'])
    expect((await log(server, id)).filter((event) => event.eventType === 'note')).toHaveLength(2)
  })
})

test('a batch may end by name a command that the batch itself made follow', async () => {
  const { server, id } = await stage(chain('tests/events', 3))
  const done = (step: string) => ({ step, event_type: 'command.completed', payload: { result: { x: 1 } } })
  const answer = await server.post('/api/events/batch', {
    execution_id: id,
    worker_id: 'w1',
    events: [done('start'), done('s2'), { step: 's3', event_type: 'command.claimed' }],
  })
  expect(answer.status).toBe(200)
  const { rows } = await server.core.shards
    .of(id)
    .query('select step, status, worker_id from noetl.command where step <> $1 order by event_id', ['start'])
  expect(rows).toMatchObject([
    { step: 's2', status: 'COMPLETED' },
    { step: 's3', status: 'CLAIMED', worker_id: 'w1' },
  ])
  expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
})
