import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { parseJson } from '../lib/exact-json.ts'
import { SERVER_POOL } from '../server/build-append.ts'
import { aNote } from '../../test/support/inputs.ts'
import { chain, fanOut, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { textOf } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'

const servers = useServers()
const MIRROR = { serverUrl: () => 'http://here:8082', isLocal: (pool: string) => pool === SERVER_POOL }

interface Row {
  readonly outbox_id: string
  readonly execution_id: string
  readonly event_id: string
  readonly subject: string
  readonly text: string
  readonly payload_codec: string
  readonly status: string
}

const outboxOf = async (server: TestServer): Promise<readonly Row[]> => {
  const { rows } = await server.core.shards.cluster.query<Row>(
    'select outbox_id, execution_id, event_id, subject, payload::text as text, payload_codec, status from noetl.outbox order by outbox_id',
  )
  return rows
}
const commandsOf = async (server: TestServer): Promise<readonly Row[]> =>
  (await outboxOf(server)).filter((row) => row.subject.startsWith('noetl.commands.'))

describe('a server that tells the outside', () => {
  test('writes a message per event, which holds all of it but secrets (1, 2)', async () => {
    const server = await servers.start({ mirror: MIRROR })
    await server.register(chain('tests/mirror', 2))
    const id = await server.execute('tests/mirror', { password: 'hidden-value', n: 1 })
    await createScriptedWorker(server, 'w1').drain({ token: 'hidden-value', x: 1 })
    const events = (await server.get(`/api/executions/${id}/events`)).body['events'] as JsonObject[]
    const rows = (await outboxOf(server)).filter((row) => row.subject.startsWith('noetl.events.'))
    expect(rows.map((row) => row.subject)).toEqual(
      events.map((event) => `noetl.events.${textOf(event['event_type'])}`),
    )
    expect(rows.map((row) => row.event_id)).toEqual(events.map((event) => event['event_id']))
    expect(new Set(rows.map((row) => `${row.payload_codec} ${row.status} ${row.execution_id}`))).toEqual(
      new Set([`json PENDING ${id}`]),
    )
    for (const [index, row] of rows.entries()) {
      const payload = parseJson(row.text) as JsonObject
      const event = events[index]
      expect(payload).toMatchObject({
        event_id: event?.['event_id'],
        execution_id: id,
        position: event?.['position'],
        event_type: event?.['event_type'],
        node_name: event?.['node_name'],
        timestamp: event?.['created_at'],
        context: event?.['context'],
        result: event?.['result'],
        meta: event?.['meta'],
      } as Record<string, Json>)
    }
    expect(rows[0]?.text).toContain(`"execution_id":${id}`)
    expect(JSON.stringify(rows)).not.toContain('hidden-value')
    expect(JSON.stringify(rows)).toContain('[REDACTED]')
  })

  test('writes a notification per command that waits', async () => {
    const server = await servers.start({ mirror: MIRROR })
    await server.register(fanOut('tests/mirror', 3))
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const started = await server.post('/api/execute', {
      path: 'tests/mirror',
      trace,
      execution_pool: 'gpu pool',
    })
    const id = textOf(started.body['execution_id'])
    await createScriptedWorker(server, 'w1', 'gpu pool').drain()
    const rows = await commandsOf(server)
    expect(new Set(rows.map((row) => row.subject))).toEqual(new Set([`noetl.commands.gpu_pool.${id}`]))
    expect(rows.map((row) => (parseJson(row.text) as JsonObject)['step'])).toEqual([
      'start',
      'p1',
      'p2',
      'p3',
      'join',
    ])
    expect(parseJson(rows[0]?.text ?? '')).toEqual({
      execution_id: id,
      event_id: rows[0]?.event_id,
      command_id: `${id}:start:${rows[0]?.event_id}`,
      step: 'start',
      server_url: 'http://here:8082',
      trace,
    })
    expect(rows[0]?.text).toContain(`"event_id":${rows[0]?.event_id}`)
  })

  test('notifies anew when a command waits again (3)', async () => {
    const server = await servers.start({ mirror: MIRROR })
    await server.register(single('tests/mirror'))
    await server.post('/api/execute', { path: 'tests/mirror', trace: { traceparent: 'x' } })
    const [first] = await commandsOf(server)
    expect(first?.text).toContain('"trace"')
    await server.core.shards.cluster.query(
      "update noetl.outbox set status = 'PUBLISHED', published_at = now()",
    )
    const worker = createScriptedWorker(server, 'w1')
    const [command] = await worker.lease()
    await worker.release(command as LeasedCommand)
    const again = await commandsOf(server)
    expect(again).toMatchObject([{ event_id: first?.event_id, subject: first?.subject, status: 'PENDING' }])
    expect(parseJson(again[0]?.text ?? '')).toEqual(parseJson(first?.text ?? ''))
    expect(BigInt(again[0]?.outbox_id ?? 0)).toBeGreaterThan(BigInt(first?.outbox_id ?? 0))
  })

  test('says nothing of work that stays inside', async () => {
    const server = await servers.start({ mirror: MIRROR })
    await server.register(single('tests/child'))
    await server.register(
      'apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: p, path: tests/mirror }\nworkflow:\n  - step: start\n    tool: { kind: playbook, path: tests/child }\n',
    )
    await server.execute('tests/mirror')
    expect(await commandsOf(server)).toEqual([])
  })

  test('makes subjects of whatever clients call their events (4)', async () => {
    const server = await servers.start({ mirror: MIRROR })
    await server.register(single('tests/mirror'))
    const id = await server.execute('tests/mirror')
    for (const eventType of ['a b.>', '..', '*', 'x..y.', 'ünï\u0000code\ud800'])
      await server.core.tell(id, aNote({ eventType }))
    const subjects = (await outboxOf(server)).slice(-5).map((row) => row.subject)
    expect(subjects).toEqual([
      'noetl.events.a_b._',
      'noetl.events._',
      'noetl.events._',
      'noetl.events.x.y',
      'noetl.events._n__code_',
    ])
  })

  test('writes nothing when the append loses (1)', async () => {
    const [a, b] = [await servers.start({ mirror: MIRROR }), await servers.start({ mirror: MIRROR })]
    await a.register(single('tests/mirror'))
    const id = await a.execute('tests/mirror')
    const notes = Array.from({ length: 40 }, () => aNote())
    await Promise.all(notes.map((note, index) => (index % 2 === 0 ? a : b).core.tell(id, note)))
    const told = (await outboxOf(a)).filter((row) => row.subject === 'noetl.events.note')
    expect(told.map((row) => row.event_id).sort()).toEqual(notes.map((note) => String(note.eventId)).sort())
  })
})

test('a server that tells nobody writes nothing', async () => {
  const server = await servers.start()
  await server.register(chain('tests/mirror', 2))
  await server.execute('tests/mirror')
  await createScriptedWorker(server, 'w1').drain()
  expect(await outboxOf(server)).toEqual([])
})
