/** A process that dies at the worst moment costs time, not work. */
import { expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { processesOn } from '../support/embedded-postgres.ts'
import { createGate, startServer, temporaryDirectory } from './noetl-process.ts'
import { readToEnd } from './read-to-end.ts'

test('after kill -9 the next start works at once and finishes the interrupted execution', async () => {
  const dataDir = temporaryDirectory()
  const gate = createGate()
  const first = await startServer(dataDir, ['--no-examples'])
  const { path } = await createClient(first.url).register(gate.playbook)
  const { execution_id: id } = await createClient(first.url).execute({ path })
  await gate.untilBegun(1)
  first.kill('SIGKILL')
  await first.finished

  const second = await startServer(dataDir)
  const client = createClient(second.url)
  // The dead worker's lease lasts a minute; it is ended at once, because nobody else can hold it.
  await gate.untilBegun(2)
  gate.open()
  const { end, events } = await readToEnd(client, id)
  expect(end).toEqual({ status: 'COMPLETED', error: null })
  expect(events.filter((event) => event.event_type === 'command.released')).toHaveLength(1)
  expect(events.filter((event) => event.event_type === 'command.completed')).toHaveLength(1)
  expect(events.map((event) => event.position)).toEqual(events.map((_, index) => index + 1))
  second.kill('SIGINT')
  expect((await second.finished).exitCode).toBe(0)
  expect(processesOn(dataDir)).toEqual([])
})
