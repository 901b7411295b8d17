/** `noetl export -o` that is given up midway: nothing is left that could be taken for an export. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startNoetl, temporaryDirectory, until } from './noetl-process.ts'

const HEALTH = { status: 'ok', database: 'connected', version: '0', uptime_seconds: 1 }
const HALF = '{"type":"header"}\n{"type":"event"}\n'

/** Gives half of an export, then nothing more. */
const server = createServer(({ url = '' }, response) => {
  if (url.startsWith('/api/health')) response.end(JSON.stringify(HEALTH))
  else response.write(HALF, () => stuck.add(response))
})
const stuck = new Set<ServerResponse>()
let address: string
let directory: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  directory = join(temporaryDirectory(), 'exports')
  mkdirSync(directory)
  stuck.clear()
})

const startExport = async () => {
  const started = startNoetl(['export', '5', '-o', join(directory, 'file'), '--server', address])
  await until(() => readdirSync(directory).some((name) => name.endsWith('.partial')))
  return started
}

test.each(['SIGINT', 'SIGTERM'] as const)('%s takes the beginning away: exit code 130', async (signal) => {
  const started = await startExport()
  started.kill(signal)
  expect(await started.finished).toMatchObject({ exitCode: 130, stdout: '', stderr: '' })
  expect(readdirSync(directory)).toEqual([])
})

test('a signal after the first one changes nothing about it', async () => {
  writeFileSync(join(directory, 'file'), 'former')
  const started = await startExport()
  started.kill('SIGINT')
  await until(() => readdirSync(directory).length === 1)
  started.kill('SIGTERM')
  await started.finished
  expect(readdirSync(directory)).toEqual(['file'])
  expect(readFileSync(join(directory, 'file'), 'utf8')).toBe('former')
})

test('a connection that breaks takes the beginning away, too: exit code 1', async () => {
  const started = await startExport()
  await until(() => stuck.size > 0)
  for (const response of stuck) response.destroy()
  expect(await started.finished).toMatchObject({
    exitCode: 1,
    stderr: `error: The connection to ${address} broke before its answer was whole\n`,
  })
  expect(readdirSync(directory)).toEqual([])
})
