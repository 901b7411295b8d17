import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ReplayAnswer } from '../../contract/api-replay.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { LosslessObject } from '../../replay/canonical-json.ts'
import { canonicalJson, parseLossless } from '../../replay/canonical-json.ts'
import { chain, single } from '../../../test/support/playbooks.ts'
import type { StoredEvent } from '../../../test/support/replay-log.ts'
import { freshExecutionId, storeEvents, storeExecution } from '../../../test/support/replay-log.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { useServer } from '../../../test/support/server-file.ts'
import { textOf } from '../../../test/support/server.ts'

const server = useServer()
const replayOf = (id: string, query = '') => server().get(`/api/replay/state?execution_id=${id}${query}`)

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

let paths = 0
const started = async (steps: number): Promise<string> => {
  const path = `replay/one-${(paths += 1)}`
  await server().register(steps === 1 ? single(path) : chain(path, steps))
  return server().execute(path)
}

const finished = async (steps: number): Promise<string> => {
  const id = await started(steps)
  await createScriptedWorker(server(), 'w1').drain()
  return id
}

const anEvent = (over: Partial<StoredEvent>): StoredEvent => ({
  eventId: '1',
  eventType: 'note',
  nodeName: null,
  status: null,
  workerId: null,
  meta: '{}',
  contextCommandId: null,
  reference: null,
  extra: null,
  createdAt: '2026-01-01T00:00:00Z',
  ...over,
})

const imported = async (events: readonly Partial<StoredEvent>[], status = 'RUNNING'): Promise<string> => {
  const id = freshExecutionId()
  const database = server().core.shards.of(id)
  await storeExecution(database, id, status)
  await storeEvents(
    database,
    id,
    events.map((event, index) => anEvent({ eventId: String(index + 1), ...event })),
  )
  return id
}

describe('an execution of our own', () => {
  test('is told from its log, with the status of list, detail and status', async () => {
    const id = await finished(2)
    const { status, body, text, headers } = await replayOf(id)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(ReplayAnswer.safeParse(body).error).toBeUndefined()
    const progress = await server().get(`/api/executions/${id}/status`)
    expect(body['execution']).toMatchObject({ status: progress.body['status'], payload_refs: [] })
    const events = (await server().get(`/api/executions/${id}/events`)).body[
      'events'
    ] as unknown as JsonObject[]
    expect(body).toMatchObject({
      tenant_id: 'default',
      organization_id: 'default',
      projection: 'all',
      event_count: events.length,
      last_position: events.length,
      last_event_type: 'playbook.completed',
      truncated: false,
      applied_from_snapshot: null,
    })
    expect(text).toContain(`"execution_id":${id},`)
    const commands = Object.values(body['commands'] as JsonObject)
    expect(commands).toHaveLength(2)
    for (const command of commands)
      expect(command).toMatchObject({
        status: 'COMPLETED',
        worker_id: 'w1',
        issued_event_id: expect.anything() as unknown,
      })
  })

  test('has the status of its row while it runs, and that of the fold at a point of the past', async () => {
    const id = await started(2)
    const statusOf = async (query: string): Promise<unknown> =>
      ((await replayOf(id, query)).body['execution'] as JsonObject)['status']
    expect(await statusOf('')).toBe('RUNNING')
    expect(await statusOf('&as_of_sequence=1')).toBe('UNKNOWN')
    expect(await statusOf('&as_of_sequence=2')).toBe('RUNNING')
    await server().post(`/api/executions/${id}/cancel`, {})
    expect(await statusOf('')).toBe('CANCELLED')
    expect(await statusOf('&as_of_sequence=2')).toBe('RUNNING')
  })

  test('can be checked by whoever reads the answer', async () => {
    const { text } = await replayOf(await finished(1))
    const {
      checksum,
      digest: _d,
      truncated: _t,
      last_position: _p,
      applied_from_snapshot: _s,
      ...covered
    } = parseLossless(text) as Record<string, LosslessObject>
    expect(checksum?.['value']).toBe(sha256(canonicalJson(covered)))
    expect(covered['projection_checksums']).toMatchObject({
      command: { value: sha256(canonicalJson(covered['commands'])) },
    })
  })
})

describe('cutoffs', () => {
  const log = () =>
    imported([
      { eventId: '10', createdAt: '2026-01-01T00:00:01Z', eventType: 'step.enter' },
      { eventId: '30', createdAt: '2026-01-01T00:00:03.000001Z', eventType: 'late' },
      { eventId: '20', createdAt: '2026-01-01T00:00:02Z', eventType: 'playbook.completed' },
    ])

  test.each([
    ['', 3, 'late'],
    ['&as_of_event_id=29', 2, 'playbook.completed'],
    ['&as_of_event_id=30', 3, 'late'],
    ['&as_of_position=20', 2, 'playbook.completed'],
    ['&as_of_position=9', 0, undefined],
    ['&as_of_time=2026-01-01T00:00:03Z', 2, 'playbook.completed'],
    ['&as_of_time=2026-01-01T01:00:03.000001%2B01:00', 3, 'late'],
    ['&as_of_time=2026-01-01T01:00:02+01:00', 2, 'playbook.completed'],
    ['&as_of_sequence=2', 2, 'late'],
    ['&as_of_sequence=99999999999', 3, 'late'],
    ['&as_of_sequence=-1', 0, undefined],
    ['&limit=1', 1, 'step.enter'],
    ['&limit=0', 1, 'step.enter'],
    ['&limit=all', 3, 'late'],
    ['&limit=9999999', 3, 'late'],
  ])('%j leave %i events, the last a %s', async (query, count, type) => {
    const { body } = await replayOf(await log(), query)
    expect([body['event_count'], body['last_event_type']]).toEqual([count, type])
  })

  test('by number of events are told, with the first event left out', async () => {
    const { body, text } = await replayOf(await log(), '&limit=2')
    expect(body).toMatchObject({ truncated: true, next_event_id: 30, event_count: 2, last_position: 3 })
    expect(text).toContain('"execution":{"status":"COMPLETED"')
    expect((await replayOf(await log(), '&limit=3')).body).not.toHaveProperty('next_event_id')
  })

  test.each([
    [
      'as_of_event_id=1&as_of_position=1',
      /^Use only one replay cutoff: as_of_event_id, as_of_position, or as_of_time$/,
    ],
    ['as_of_time=2026-01-01T00:00:00Z&as_of_sequence=1', /^Use only one replay cutoff/],
    [
      'projection=steps',
      /^unknown projection "steps"; expected one of: execution, stage, frame, command, business_object, loop, all$/,
    ],
    ['as_of_event_id=x', /^Invalid as_of_event_id: 'x'/],
    ['as_of_event_id=', /as_of_event_id/],
    ['as_of_event_id=9223372036854775808', /as_of_event_id/],
    ['as_of_time=yesterday', /as_of_time/],
    ['as_of_time=2026-02-31T00:00:00Z', /as_of_time/],
    ['as_of_sequence=1.5', /as_of_sequence/],
    ['limit=many', /limit/],
    ['resolve_payloads=maybe', /resolve_payloads/],
  ])('%s is a bad request', async (query, message) => {
    const { status, body } = await replayOf('1', `&${query}`)
    expect([status, body['status'], body['code']]).toEqual([400, 400, 'bad_request'])
    expect(body['error']).toMatch(message)
  })

  test.each(['', '?execution_id=', '?execution_id=abc', '?execution_id=1.5'])(
    'an execution named by %j is a bad request',
    async (query) => {
      const { status, body } = await server().get(`/api/replay/state${query}`)
      expect([status, body['code']]).toEqual([400, 'bad_request'])
    },
  )

  test('an unknown execution is not found', async () => {
    const { status, body } = await replayOf('77')
    expect([status, body['error']]).toEqual([404, 'Execution not found: 77'])
  })
})

describe('a long log', () => {
  test('is folded up to 10,000 events unless asked otherwise, and has the status of its row all the same', async () => {
    const id = await imported(
      Array.from({ length: 10_001 }, (_, index) => ({ eventType: index === 0 ? 'step.enter' : 'note' })),
      'FAILED',
    )
    const { body } = await replayOf(id)
    expect(body).toMatchObject({
      event_count: 10_000,
      truncated: true,
      next_event_id: 10_001,
      execution: { status: 'FAILED' },
    })
    const all = await replayOf(id, '&limit=all')
    expect(all.body).toMatchObject({ event_count: 10_001, truncated: false, execution: { status: 'FAILED' } })
    const asked = await replayOf(id, '&limit=10000')
    expect(asked.body).toMatchObject({ truncated: true, execution: { status: 'RUNNING' } })
    expect(asked.body['applied_from_snapshot'], 'left by those before').toMatchObject({
      event_count: expect.any(Number) as number,
    })
  })
})

describe('an imported log', () => {
  test('has stages and frames with ids of any type, exact to the last digit', async () => {
    const id = await imported(
      [
        { eventType: 'stage.opened', extra: '{"stage_id": 9007199254740993}' },
        {
          eventType: 'frame.committed',
          extra: '{"stage_id": 9007199254740993, "frame_id": "f"}',
          meta: '{"row_count": 9007199254740993}',
          reference: '{"b": 1.0, "a": 12345678901234567890}',
        },
      ],
      'COMPLETED',
    )
    const { text } = await replayOf(id)
    expect(text).toContain('"stages":{"9007199254740993":{"stage_id":"9007199254740993","status":"OPEN"')
    expect(text).toContain('"row_count":9007199254740993,')
    expect(text).toContain('"output_ref":{"a":12345678901234567890,"b":1.0},"output_ref_summary":{}')
    expect(text).toContain('"execution":{"status":"COMPLETED","payload_refs":[{"event_id":2,')
  })

  test('is shown to its tenant and to nobody else', async () => {
    const id = await imported([{ extra: '{"tenant_id": "acme", "organization_id": "north"}' }])
    const { status, body } = await replayOf(id, '&tenant_id=acme&organization_id=north')
    expect([status, body['tenant_id'], body['event_count']]).toEqual([200, 'acme', 1])
    for (const query of ['', '&tenant_id=acme', '&tenant_id=other&organization_id=north'])
      expect((await replayOf(id, query)).status).toBe(404)
    expect((await replayOf(await finished(1), '&tenant_id=acme')).status).toBe(404)
  })
})

describe('projections', () => {
  test.each(['execution', 'stage', 'frame', 'command', 'business_object', 'loop'])(
    '%s is returned alone, with its checksum',
    async (projection) => {
      const id = await imported([
        {
          eventType: 'step.enter',
          meta: '{"stage_id": 1, "frame_id": 2, "command_id": 3, "loop_id": 4, "object_type": "o", "object_id": 5}',
          reference: '{"ref": "r"}',
        },
      ])
      const whole = (await replayOf(id)).body
      const { body } = await replayOf(id, `&projection=${projection}`)
      const key = projection === 'execution' ? projection : `${projection}s`
      expect(body[key]).toEqual(whole[key])
      expect(body['projection']).toBe(projection)
      expect(Object.keys(body['projection_checksums'] as JsonObject)).toEqual([projection])
      for (const other of ['stages', 'frames', 'commands', 'business_objects', 'loops'].filter(
        (name) => name !== key,
      ))
        expect(body[other]).toEqual({})
      if (projection !== 'execution')
        expect(body['execution']).toEqual({ status: 'RUNNING', payload_refs: [] })
    },
  )
})

describe('payloads', () => {
  test('are looked at when asked for, and told without secrets', async () => {
    const owner = freshExecutionId()
    const put = async (data: object): Promise<string> =>
      textOf((await server().send('PUT', `/api/result/${owner}`, { name: 'rows', data })).body['ref'])
    const list = await put([1, 2, 3])
    const secret = await put({ rows: [1], password: 'hunter2' })
    const id = await imported([
      { reference: JSON.stringify({ ref: list }) },
      { reference: JSON.stringify({ kind: 'payload_store', uri: list }) },
      {
        eventType: 'frame.committed',
        meta: '{"frame_id": "f"}',
        reference: JSON.stringify({ rows_ref: { uri: secret } }),
      },
      {
        meta: '{"object_type": "o", "object_id": 1}',
        reference: '{"ref": "noetl://execution/1/result/x/1"}',
      },
      { reference: '{"ref": "s3://bucket/key"}' },
      { reference: '{"size": 1}' },
    ])
    const { body, text } = await replayOf(id, '&resolve_payloads=true')
    const rows = body['payload_resolution'] as unknown as { scope: string; resolution: JsonObject }[]
    expect(rows.map(({ scope, resolution }) => [scope, resolution['resolved'], resolution['error']])).toEqual(
      [
        ['execution', true, null],
        ['execution', true, null],
        ['execution', true, null],
        ['execution', false, 'result not found'],
        ['execution', false, 'not a reference to a stored result'],
        ['execution', false, 'payload reference has no resolvable locator'],
        ['frame', true, null],
        ['business_object', false, 'result not found'],
      ],
    )
    expect(rows[0]?.resolution).toEqual({
      ref: list,
      resolved: true,
      checksum: sha256('[1,2,3]'),
      size_bytes: 7,
      row_count: 3,
      value_type: 'array',
      error: null,
    })
    expect(rows[6]?.resolution).toMatchObject({
      checksum: sha256('{"password":"[REDACTED]","rows":[1]}'),
      row_count: 1,
      value_type: 'object',
    })
    expect(text).not.toContain('hunter2')
    expect(body['payload_resolution_summary']).toMatchObject({
      total: 8,
      resolved: 4,
      unresolved: 4,
      unique_refs: 4,
      all_resolved: false,
    })
    expect((await replayOf(id)).body).not.toHaveProperty('payload_resolution')
  })
})
