import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../contract/json.ts'
import { INTERNAL_TOKEN, startApiServer } from '../../../test/support/api-server.ts'
import { historyProblems, readLog, stuckExecutions } from '../../../test/support/history.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import type { TestDatabase } from '../../../test/support/postgres.ts'
import { createTestDatabase } from '../../../test/support/postgres.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { Response, TestServer } from '../../../test/support/server.ts'
import { startServer, textOf } from '../../../test/support/server.ts'

const ALLOWED = { authorization: `Bearer ${INTERNAL_TOKEN}` }
const PROJECT = '/api/internal/events/project'
let databases: readonly TestDatabase[]
let server: TestServer

beforeAll(async () => {
  databases = [await createTestDatabase(), await createTestDatabase()]
  server = await startApiServer(databases.map((database) => database.url))
})
afterAll(async () => {
  await server.close()
  await Promise.all(databases.map((database) => database.drop()))
})

const send = (path: string, body?: unknown): Promise<Response> => server.send('POST', path, body, ALLOWED)
const project = (...events: readonly object[]): Promise<Response> => send(PROJECT, { events })

let last = 420_816_801_799_737_344n
const nextId = (): string => String((last += 4_194_304n))

/** A short log of another server. */
const foreignLog = (execution_id: string) => [
  {
    event_id: nextId(),
    execution_id,
    catalog_id: 77,
    event_type: 'playbook.initialized',
    node_name: 'elsewhere/flow',
    status: 'STARTED',
    timestamp: '2026-03-01T10:00:00Z',
    context: { path: 'elsewhere/flow', workload: { city: 'Ulm', password: 'hidden-value' } },
    meta: { parent_execution_id: '42' },
  },
  {
    event_id: nextId(),
    execution_id,
    event_type: 'step.enter',
    node_name: 'load',
    status: 'ENTERED',
    timestamp: '2026-03-01 10:00:01.5',
  },
  {
    event_id: nextId(),
    execution_id,
    event_type: 'command.completed',
    node_name: 'load',
    node_type: 'python',
    status: 'success',
    duration: 1.25,
    worker_id: 'rust-1',
    command_id: 9_007_199,
    tenant_id: 'acme',
    result: { status: 'success', context: { data: { token: 'hidden-value', n: 1 } } },
    meta: { command_id: 'kept' },
    created_at: '2026-03-01T11:00:02+01:00',
  },
]

describe('an execution that runs elsewhere', () => {
  test('is listed, shown and followed like any other', async () => {
    const id = nextId()
    const [started, entered, completed] = foreignLog(id)
    expect((await project(started as object, entered as object)).body).toEqual({
      projected: 2,
      duplicates: 0,
    })
    expect((await server.get(`/api/executions/${id}/status`)).body).toMatchObject({
      status: 'RUNNING',
      current_step: 'load',
      progress: { total_steps: 1, completed_steps: 0 },
    })
    const end = {
      event_id: nextId(),
      execution_id: id,
      event_type: 'playbook.completed',
      status: 'COMPLETED',
    }
    expect((await project(completed as object, { ...end, timestamp: '2026-03-01T10:00:03' })).body).toEqual({
      projected: 2,
      duplicates: 0,
    })
    const { body: detail, text } = await server.get(`/api/executions/${id}`)
    expect(detail).toMatchObject({
      execution_id: id,
      path: 'elsewhere/flow',
      status: 'COMPLETED',
      started_at: '2026-03-01T10:00:00.000Z',
      completed_at: '2026-03-01T10:00:03.000Z',
      parent_execution_id: 42,
      workload: { city: 'Ulm', password: '[REDACTED]' },
    })
    const events = (detail['events'] as JsonObject[]).toSorted(
      (a, b) => Number(a['position']) - Number(b['position']),
    )
    expect(events.map((event) => [event['position'], event['event_type'], event['created_at']])).toEqual([
      [1, 'playbook.initialized', '2026-03-01T10:00:00.000Z'],
      [2, 'step.enter', '2026-03-01T10:00:01.500Z'],
      [3, 'command.completed', '2026-03-01T10:00:02.000Z'],
      [4, 'playbook.completed', '2026-03-01T10:00:03.000Z'],
    ])
    expect(events[2]).toMatchObject({
      worker_id: 'rust-1',
      duration_ms: 1250,
      meta: { command_id: 'kept', tenant_id: 'acme', imported: true },
    })
    expect(text).not.toContain('hidden-value')
    const listed = (await server.get('/api/executions?path=elsewhere')).text
    expect(listed).toContain(id)
  })

  test('counts what it knows already, within a request and across requests', async () => {
    const id = nextId()
    const log = foreignLog(id)
    expect((await project(...log, ...log)).body).toEqual({ projected: 3, duplicates: 3 })
    expect((await project(...log)).body).toEqual({ projected: 0, duplicates: 3 })
    expect((await server.get(`/api/executions/${id}`)).body['event_count']).toBe(3)
  })

  test('takes the same event id for different executions', async () => {
    const [a, b, event_id] = [nextId(), nextId(), nextId()]
    const both = [a, b].map((execution_id) => ({ event_id, execution_id, event_type: 'note' }))
    expect((await project(...both)).body).toEqual({ projected: 2, duplicates: 0 })
  })

  test('grows without gaps, however many bring its events at once', async () => {
    const id = nextId()
    const events = Array.from({ length: 60 }, () => ({
      event_id: nextId(),
      execution_id: id,
      event_type: 'note',
    }))
    await Promise.all([0, 1, 2, 3].map((n) => project(...events.slice(n * 15, n * 15 + 20))))
    const { events: shown } = (await server.get(`/api/executions/${id}/events?limit=500`)).body
    const positions = (shown as JsonObject[]).map((event) => Number(event['position'])).sort((x, y) => x - y)
    expect(positions).toEqual(Array.from({ length: 60 }, (_, index) => index + 1))
  })

  test('is not ours to change', async () => {
    const id = nextId()
    await project(...foreignLog(id))
    expect((await server.post(`/api/executions/${id}/cancel`, {})).status).toBe(404)
    const report = { execution_id: id, step: 'load', event_type: 'command.completed', payload: {} }
    expect((await server.post('/api/events', report)).status).toBe(404)
    expect((await server.get(`/api/executions/${id}`)).body['event_count']).toBe(3)
    expect(await stuckExecutions(server.databases)).toEqual([])
  })

  test('needs hardly anything: an id and nothing else', async () => {
    const event_id = nextId()
    expect((await project({ event_id })).body).toEqual({ projected: 1, duplicates: 0 })
    expect((await project({ event_id: Number(event_id.slice(0, 9)), execution_id: '' })).status).toBe(200)
  })

  test('is advanced when asked, and what is unknown is told', async () => {
    const id = nextId()
    await project(...foreignLog(id))
    const { body } = await send('/api/internal/projection/advance', { execution_ids: [id, '5'] })
    expect(body).toEqual({
      advanced: [{ execution_id: id, version: 3, events: 3 }],
      failed: [{ execution_id: 5, error: 'Execution not found: 5' }],
    })
  })
})

describe('an execution that runs here', () => {
  test('knows its own events when they come back from the outside', async () => {
    const mirrored = await startServer([databases[0]?.url ?? '', databases[1]?.url ?? ''], {
      mirror: { serverUrl: () => 'http://x', isLocal: () => false },
    })
    await mirrored.register(chain('tests/import', 2))
    const id = await mirrored.execute('tests/import')
    await createScriptedWorker(mirrored, 'w1').drain()
    const claim = await send('/api/internal/outbox/claim', { limit: 1000 })
    const texts = [...claim.text.matchAll(/"payload":(\{.*?\})\}(?=,\{"outbox_id"|\])/g)].map(
      (match) => match[1] ?? '',
    )
    const events = texts.filter((text) => text.includes('"event_type"'))
    expect(events.length).toBeGreaterThan(5)
    const back = await server.send('POST', PROJECT, `{"events":[${events.join()}]}`, ALLOWED)
    expect(back.body).toEqual({ projected: 0, duplicates: events.length })
    expect(await historyProblems(mirrored.core.shards.of(id), id)).toEqual([])
    await mirrored.close()
  })

  test('keeps what others bring about it beside its log, and decides as if it were not there', async () => {
    await server.register(single('tests/import'))
    const id = await server.execute('tests/import')
    const database = server.core.shards.of(id)
    const before = await readLog(database, id)
    const [issued] = before.filter((event) => event.eventType === 'command.issued')
    const command_id = issued?.meta['command_id']
    const events = [
      {
        event_id: nextId(),
        execution_id: id,
        event_type: 'command.completed',
        node_name: 'start',
        meta: { command_id },
      },
      {
        event_id: nextId(),
        execution_id: id,
        event_type: 'playbook.failed',
        status: 'FAILED',
        error: 'not really',
      },
    ]
    expect((await project(...events, ...events)).body).toEqual({ projected: 2, duplicates: 2 })
    expect(await readLog(database, id)).toEqual(before)
    expect((await server.get(`/api/executions/${id}/status`)).body['status']).toBe('RUNNING')
    const { events: shown } = (await server.get(`/api/executions/${id}/imported-events`)).body
    expect((shown as JsonObject[]).map((event) => textOf(event['event_type'])).toSorted()).toEqual([
      'command.completed',
      'playbook.failed',
    ])
    await createScriptedWorker(server, 'w1').drain()
    expect((await server.get(`/api/executions/${id}/status`)).body['status']).toBe('COMPLETED')
    expect(await historyProblems(database, id)).toEqual([])
    expect((await send('/api/internal/projection/advance', { execution_ids: [id] })).body).toMatchObject({
      failed: [],
    })
  })
})

describe('reports that are only stored', () => {
  test('trigger nothing', async () => {
    const id = nextId()
    const reports = [
      { execution_id: id, step: 'a', name: 'step.enter', event_id: nextId() },
      {
        execution_id: id,
        step: 'a',
        event_type: 'command.completed',
        payload: { result: 1 },
        status: 'success',
      },
    ]
    expect((await send('/api/internal/events/materialize', reports)).body).toEqual({
      materialized: 2,
      duplicates: 0,
    })
    expect((await send('/api/internal/events/materialize', reports.slice(0, 1))).body).toEqual({
      materialized: 0,
      duplicates: 1,
    })
    expect((await server.get(`/api/executions/${id}`)).body).toMatchObject({
      status: 'COMPLETED',
      event_count: 2,
    })
    expect((await send('/api/internal/events/materialize', [])).body).toEqual({
      materialized: 0,
      duplicates: 0,
    })
  })

  test.each([[{}], [{ events: [] }], [[{ step: 'a' }]], ['x'], [[7]]])('refuses %j', async (body) => {
    expect((await send('/api/internal/events/materialize', body === 'x' ? '"x"' : body)).status).toBe(422)
  })
})

describe('events that cannot be stored', () => {
  test.each([
    [{ events: [] }, 400, 'events must not be empty'],
    [{}, 422, undefined],
    [{ events: [{}] }, 422, undefined],
    [{ events: [{ event_id: 1.5 }] }, 422, undefined],
    [{ events: [{ event_id: 'x' }] }, 422, undefined],
    [{ events: [{ event_id: 1, execution_id: 'x' }] }, 422, undefined],
    [{ events: [{ event_id: 1, timestamp: 'yesterday' }] }, 422, undefined],
    [{ events: [{ event_id: 1, timestamp: '2026-13-77T10:00:00Z' }] }, 422, undefined],
    [{ events: [{ event_id: 1 }, { event_id: 2, result: 7 }] }, 422, /events\.1\.result/],
    [{ events: [{ event_id: 1, result: { context: {} } }] }, 422, /events\.0\.result/],
    [{ events: [{ event_id: 1, result: { status: 'x', more: 1 } }] }, 422, /events\.0\.result.*more/],
    [{ events: [{ event_id: 1, result: { status: 'x', context: null } }] }, 422, /events\.0\.result/],
  ])('%j is refused', async (body, status, error) => {
    const answer = await send(PROJECT, body)
    expect(answer.status).toBe(status)
    if (error !== undefined) expect(answer.body['error']).toMatch(error)
  })

  test('odd contents are stored', async () => {
    const id = nextId()
    const odd = [
      {
        event_id: nextId(),
        execution_id: id,
        event_type: 'a\u0000b',
        node_name: '\ud800',
        error: { code: 7 },
      },
      { event_id: nextId(), execution_id: id, meta: [1, 2], context: 'text', worker_id: 7, timestamp: ' ' },
      { event_id: nextId(), execution_id: id, meta: null, result: null, position: -3, catalog_id: '' },
      { event_id: '-9223372036854775808', execution_id: id, event_type: '', duration: -1 },
    ]
    expect((await project(...odd)).body).toEqual({ projected: 4, duplicates: 0 })
    expect((await server.get(`/api/executions/${id}`)).status).toBe(200)
  })
})
