import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../../contract/command.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Outlet } from '../../dispatch/nats-outlet.ts'
import { createNatsOutlet } from '../../dispatch/nats-outlet.ts'
import type { NatsLink } from '../../dispatch/nats-link.ts'
import { openNatsLink } from '../../dispatch/nats-link.ts'
import { createNatsDispatcher } from '../../dispatch/nats.ts'
import { parseJson } from '../../lib/exact-json.ts'
import { countPending } from '../../store/outbox.ts'
import { aNote } from '../../../test/support/inputs.ts'
import type { NatsServer } from '../../../test/support/nats-server.ts'
import { startNatsServer } from '../../../test/support/nats-server.ts'
import { chain, loopOver, single } from '../../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'
import { createMetrics } from '../metrics/metrics.ts'
import { createOutboxKeeper } from './keeper.ts'
import { createOutboxPublisher } from './publisher.ts'

const servers = useServers()
const MIRROR = { serverUrl: () => 'http://here:8082', isLocal: () => false }
const quiet = { onError: () => undefined }

let nats: NatsServer
let link: NatsLink
let outlet: Outlet

beforeEach(async () => {
  nats = await startNatsServer()
  link = await openNatsLink({ url: nats.url, ...quiet })
  outlet = await createNatsOutlet(link, quiet)
  await untilOpen()
})

afterEach(async () => {
  outlet.close()
  await link.close()
  await nats.stop()
})

const untilOpen = (): Promise<void> =>
  new Promise((resolve) => {
    const stop = outlet.onOpen(() => {
      // It may call back before it answers how to stop.
      queueMicrotask(() => stop())
      resolve()
    })
  })

const connection = (): NatsConnection => {
  const current = link.connection()
  if (!current) throw new Error('no connection to NATS')
  return current
}

interface Stored {
  readonly subject: string
  readonly id: string | undefined
  readonly payload: JsonObject
  readonly text: string
}

/** Everything a stream holds. */
const messagesIn = async (stream: string): Promise<readonly Stored[]> => {
  const manager = await jetstreamManager(connection())
  const { state } = await manager.streams.info(stream)
  const stored: Stored[] = []
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams.getMessage(stream, { seq })
    if (!message) continue
    const text = message.string()
    const id = message.header.get('Nats-Msg-Id')
    stored.push({ subject: message.subject, id, text, payload: parseJson(text) as JsonObject })
  }
  return stored
}

const start = (): Promise<TestServer> => servers.start({ mirror: MIRROR })

describe('publishing', () => {
  test('brings every event and every notification to its stream, once (1)', async () => {
    const server = await start()
    const publisher = createOutboxPublisher(server.core, outlet)
    await server.register(chain('tests/outbox', 3))
    const id = await server.execute('tests/outbox', { password: 'hidden-value' })
    await createScriptedWorker(server, 'w1').drain()
    const published = await publisher.runOnce()
    const events = (await server.get(`/api/executions/${id}/events`)).body['events'] as JsonObject[]
    const [told, commands] = [await messagesIn('noetl_events'), await messagesIn('noetl_commands')]
    expect(published).toBe(told.length + commands.length)
    expect(told.map((message) => message.id)).toEqual(events.map((event) => event['event_id']))
    expect(told.map((message) => message.subject)).toEqual(
      events.map((event) => `noetl.events.${textOf(event['event_type'])}`),
    )
    expect(commands.map(({ subject, payload }) => [subject, payload['step'], payload['server_url']])).toEqual(
      ['start', 's2', 's3'].map((step) => [`noetl.commands.shared.${id}`, step, 'http://here:8082']),
    )
    expect(told[0]?.text).toContain(`"execution_id":${id}`)
    expect(JSON.stringify(told)).not.toContain('hidden-value')
    expect(await publisher.runOnce()).toBe(0)
    expect(await countPending(server.core.shards.cluster)).toBe(0)

    // A publisher that died after publishing: the streams know the messages.
    await server.core.shards.cluster.query(
      "update noetl.outbox set status = 'IN_FLIGHT', available_at = now()",
    )
    expect(await publisher.runOnce()).toBe(published)
    expect(await messagesIn('noetl_events')).toHaveLength(told.length)
    expect(await messagesIn('noetl_commands')).toHaveLength(commands.length)
  })

  test('counts the events that were told, by their type', async () => {
    const metrics = createMetrics()
    const server = await servers.start({ mirror: MIRROR, metrics })
    await server.register(single('tests/outbox'))
    const id = await server.execute('tests/outbox')
    await server.core.tell(id, aNote())
    await createOutboxPublisher(server.core, outlet).runOnce()
    const text = await metrics.register.getSingleMetricAsString('noetl_event_stream_published_total')
    expect(text.split('\n').slice(2)).toEqual(
      ['playbook_started', 'step.enter', 'command.issued', 'other'].map(
        (type) => `noetl_event_stream_published_total{event_type="${type}"} 1`,
      ),
    )
  })

  test('tells again of a command that waits again', async () => {
    const server = await start()
    const publisher = createOutboxPublisher(server.core, outlet)
    await server.register(single('tests/outbox'))
    await server.execute('tests/outbox')
    await publisher.runOnce()
    const worker = createScriptedWorker(server, 'w1')
    await worker.release((await worker.lease())[0] as LeasedCommand)
    await publisher.runOnce()
    const [first, second, ...more] = await messagesIn('noetl_commands')
    expect(more).toEqual([])
    expect(second?.payload).toEqual(first?.payload)
  })

  test('a worker that knows only NATS finds its commands with the consumer it expects', async () => {
    const server = await start()
    await server.register(single('tests/outbox'))
    const id = await server.execute('tests/outbox')
    await createOutboxPublisher(server.core, outlet).runOnce()
    const consumer = await jetstream(connection()).consumers.get('noetl_commands', 'worker-pool')
    const message = await consumer.next({ expires: 5000 })
    const { event_id, execution_id } = parseJson(message?.string() ?? '') as JsonObject
    expect(execution_id).toBe(id)
    const claim = await server.post(`/api/commands/${textOf(event_id)}/claim`, { worker_id: 'rust' })
    expect(claim).toMatchObject({ status: 200, body: { node_name: 'start' } })
    message?.ack()
    for (const name of ['noetl_projector', 'noetl_materializer'])
      expect((await jetstream(connection()).consumers.get('noetl_events', name)).isPullConsumer()).toBe(true)
  })

  test('sends what is too large without its data, and says so', async () => {
    const server = await start()
    const publisher = createOutboxPublisher(server.core, { ...outlet, maxBytes: () => 2000 })
    await server.register(single('tests/outbox'))
    const id = await server.execute('tests/outbox')
    await server.core.tell(id, aNote({ context: { text: 'x'.repeat(5000) } }))
    await publisher.runOnce()
    const large = (await messagesIn('noetl_events')).at(-1)
    expect(large?.payload).toMatchObject({
      execution_id: id,
      event_type: 'note',
      result: { status: 'RUNNING' },
      context: null,
      meta: { truncated: true },
    })
    expect(large?.text).toContain(`"execution_id":${id}`)
  })

  test('tries what is refused again later, and does not let the others wait (2)', async () => {
    const server = await start()
    const publisher = createOutboxPublisher(server.core, {
      ...outlet,
      publish: (message) =>
        message.subject === 'noetl.events.note'
          ? Promise.reject(new Error('not this one'))
          : outlet.publish(message),
    })
    await server.register(single('tests/outbox'))
    const id = await server.execute('tests/outbox')
    await server.core.tell(id, aNote())
    expect(await publisher.runOnce()).toBe(4)
    const { rows } = await server.core.shards.cluster.query(
      "select subject, attempts, last_error, available_at > now() as hidden from noetl.outbox where status = 'FAILED'",
    )
    expect(rows).toEqual([
      { subject: 'noetl.events.note', attempts: 1, last_error: 'not this one', hidden: true },
    ])
  })

  test('waits while there is no connection, and goes on with an empty NATS (3)', async () => {
    const server = await start()
    const publisher = createOutboxPublisher(server.core, outlet)
    await server.register(single('tests/outbox'))
    await nats.kill()
    const id = await server.execute('tests/outbox')
    // The loss may show only when something is sent.
    while (outlet.isOpen()) await publisher.runOnce()
    expect(await publisher.runOnce()).toBe(0)
    const { rows } = await server.core.shards.cluster.query<{ status: string; attempts: number }>(
      'select distinct status from noetl.outbox',
    )
    expect(rows.some((row) => row.status === 'PUBLISHED')).toBe(false)
    await nats.restart({ empty: true })
    await untilOpen()
    await server.core.shards.cluster.query('update noetl.outbox set available_at = now()')
    await publisher.runOnce()
    expect((await messagesIn('noetl_events')).map((message) => message.payload['execution_id'])).toEqual([
      id,
      id,
      id,
    ])
  })

  test('published messages are deleted after a while', async () => {
    const server = await start()
    await server.register(single('tests/outbox'))
    await server.execute('tests/outbox')
    await createOutboxPublisher(server.core, outlet).runOnce()
    expect(await createOutboxKeeper(server.core).runOnce()).toBe(0)
    expect(await createOutboxKeeper(server.core, { retentionSeconds: -1 }).runOnce()).toBe(4)
  })
})

test('everything finishes when NATS is deleted in the middle of a run (4)', async () => {
  const dispatcher = createNatsDispatcher(link)
  const server = await servers.start({ mirror: MIRROR, dispatcher })
  const publisher = createOutboxPublisher(server.core, outlet)
  publisher.start()
  await server.register(loopOver('tests/outbox', 60))
  const ids = await Promise.all(Array.from({ length: 5 }, () => server.execute('tests/outbox')))
  const worker = createScriptedWorker(server, 'w1')
  const first = await worker.lease(50)
  await Promise.all(first.map((command) => worker.complete(command)))
  await nats.kill()
  // A worker waits for work in a long poll, as real ones do.
  const { signal } = new AbortController()
  for (let done = first.length; done < 5 * 61;) {
    const commands = await server.leases.lease({
      workerId: 'w1',
      pool: 'shared',
      max: 50,
      waitMs: 10_000,
      signal,
    })
    await Promise.all(commands.map((command) => worker.complete(command)))
    done += commands.length
  }
  for (const id of ids)
    expect((await server.get(`/api/executions/${id}/status`)).body['status']).toBe('COMPLETED')
  await publisher.stop()
})
