/** Workers in processes of their own. */
import { beforeAll, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/client.ts'
import type { NoetlProcess, Server } from './noetl-process.ts'
import { createGate, noetl, startNoetl, startServer, temporaryDirectory } from './noetl-process.ts'
import { readToEnd } from './read-to-end.ts'

/** Short enough to be waited for, long enough for a worker on a busy machine to extend it in time. */
const LEASE_SECONDS = 4

let server: Server
let client: Client

beforeAll(async () => {
  server = await startServer(temporaryDirectory(), ['--slots', '0'], {
    env: { NOETL_LEASE_SECONDS: String(LEASE_SECONDS) },
  })
  client = createClient(server.url)
})

const startWorker = async (): Promise<NoetlProcess> => {
  const worker = startNoetl(['worker', '--server', server.url, '--slots', '2'])
  await worker.printed(/takes work of pool shared/)
  return worker
}

const startGate = async (playbook: string): Promise<string> => {
  const { path, version } = await client.register(playbook)
  return (await client.execute({ path, version })).execution_id
}

test('a server without a worker says so and how to start one', async () => {
  await server.printed(/No worker runs here .* worker --server http/)
})

test('a worker across the network completes an execution and keeps its lease while a step takes longer than it', async () => {
  const gate = createGate()
  const id = await startGate(gate.playbook)
  const worker = await startWorker()
  await gate.untilBegun(1)
  await new Promise((resolve) => setTimeout(resolve, LEASE_SECONDS * 1500))
  gate.open()
  const { end, events } = await readToEnd(client, id)
  expect(end.status).toBe('COMPLETED')
  expect(gate.begun()).toBe(1)
  expect(events.map((event) => event.event_type)).not.toContain('command.released')
  worker.kill('SIGTERM')
  expect(await worker.finished).toMatchObject({ exitCode: 0, stderr: '' })
})

test('the command of a worker that was killed runs again on another one after its lease', async () => {
  const gate = createGate()
  const id = await startGate(gate.playbook)
  const doomed = await startWorker()
  await gate.untilBegun(1)
  doomed.kill('SIGKILL')
  const other = await startWorker()
  await gate.untilBegun(2)
  gate.open()
  const { end, events } = await readToEnd(client, id)
  expect(end.status).toBe('COMPLETED')
  const released = events.filter((event) => event.event_type === 'command.released')
  expect(released.map((event) => event.meta['reason'])).toEqual(['lease_expired'])
  expect(
    new Set(events.filter((event) => event.event_type === 'command.claimed').map((event) => event.worker_id))
      .size,
  ).toBe(2)
  other.kill('SIGTERM')
  expect((await other.finished).exitCode).toBe(0)
})

test('a worker that is told to stop finishes its command first', async () => {
  const gate = createGate()
  const id = await startGate(gate.playbook)
  const worker = await startWorker()
  await gate.untilBegun(1)
  worker.kill('SIGINT')
  await worker.printed(/Stopping/)
  gate.open()
  expect((await worker.finished).exitCode).toBe(0)
  const { end, events } = await readToEnd(client, id)
  expect(end.status).toBe('COMPLETED')
  expect(events.filter((event) => event.event_type === 'command.claimed')).toHaveLength(1)
})

test('a server that does not answer is said in one line', async () => {
  const refused = await noetl(['worker', '--server', 'http://127.0.0.1:9'])
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toMatch(/^error: No answer from http:\/\/127\.0\.0\.1:9 .*\n$/)
})
