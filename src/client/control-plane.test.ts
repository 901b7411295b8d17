import { expect, test } from 'vitest'
import type { CommandReport } from '../contract/command.ts'
import { createRemoteControlPlane } from './control-plane.ts'
import { answer, startFakeServer } from './testing/fake-server.ts'
import { WrongServer } from './wrong-server.ts'

const EXECUTION = '380455666239586304'
const EVENT = '380455666252169217'

const REPORT: CommandReport = {
  executionId: EXECUTION,
  eventId: EVENT,
  commandId: `${EXECUTION}:start:${EVENT}`,
  step: 'start',
  workerId: 'w',
  leaseToken: '3',
  attempt: 2,
  outcome: 'ok',
  data: { n: 1 },
  durationMs: 1.5,
  stdout: 'hi',
  exitCode: 0,
}

const lease = (url: string, signal = new AbortController().signal) => {
  const controlPlane = createRemoteControlPlane(url)
  const leased = controlPlane.lease({ workerId: 'w', pool: 'shared', max: 2, waitMs: 100, signal })
  return { controlPlane, leased }
}

test('leased commands arrive with every digit of their ids, and the lease is known', async () => {
  const command = `{"status":"ok","event_id":${EVENT},"execution_id":${EXECUTION},"node_name":"start","action":"python",
    "context":{"tool_config":{},"args":{},"render_context":{}},"meta":{},"command_id":"c","catalog_id":"7","attempt":2,
    "lease_token":"3","lease_seconds":5}`
  const { url, requests } = await startFakeServer((_, response) =>
    answer(response, 200, `{"commands":[${command}]}`),
  )
  const { controlPlane, leased } = lease(url)
  expect(await leased).toMatchObject([
    {
      executionId: EXECUTION,
      eventId: EVENT,
      commandId: 'c',
      step: 'start',
      toolKind: 'python',
      attempt: 2,
      leaseToken: '3',
    },
  ])
  expect(controlPlane.leaseMs()).toBe(5000)
  expect(requests[0]?.body).toEqual({
    worker_id: 'w',
    pool: 'shared',
    capabilities: [],
    max: 2,
    wait_ms: 100,
  })
})

test('an aborted lease request brings nothing (3)', async () => {
  const controller = new AbortController()
  const { url } = await startFakeServer(() => controller.abort())
  expect(await lease(url, controller.signal).leased).toEqual([])
})

test('a report is the event of its outcome, with the proof of the lease', async () => {
  const { url, requests } = await startFakeServer((_, response) =>
    answer(response, 200, { status: 'ok', event_id: 1 }),
  )
  const controlPlane = createRemoteControlPlane(url)
  expect(await controlPlane.report(REPORT)).toBe('ok')
  const error = { kind: 'schema', code: 'PY_KeyError', message: 'KeyError', retryable: false }
  const { data: _data, ...facts } = REPORT
  await controlPlane.report({ ...facts, outcome: 'error', error })
  expect(requests.map(({ path, body }) => [path, body])).toEqual([
    [
      '/api/events',
      {
        execution_id: EXECUTION,
        step: 'start',
        event_type: 'command.completed',
        status: 'COMPLETED',
        payload: {
          command_id: REPORT.commandId,
          call_index: 0,
          result: { status: 'success', context: { data: { n: 1 }, stdout: 'hi', exit_code: 0 } },
        },
        meta: { attempt: 2 },
        worker_id: 'w',
        lease_token: '3',
        duration_ms: 1.5,
      },
    ],
    [
      '/api/events',
      expect.objectContaining({
        event_type: 'command.failed',
        status: 'FAILED',
        payload: expect.objectContaining({
          error,
          result: { status: 'error', context: { error, stdout: 'hi', exit_code: 0 } },
        }),
      }),
    ],
  ])
})

test.each([
  [409, 'lease_lost'],
  [404, 'not_found'],
])('a report refused with %i %s is lost (1)', async (status, code) => {
  const { url } = await startFakeServer((_, response) =>
    answer(response, status, { error: 'gone', status, code }),
  )
  expect(await createRemoteControlPlane(url).report(REPORT)).toBe('lost')
})

test('a stranger in the place of the server loses no report (1)', async () => {
  const { url } = await startFakeServer((_, response) => answer(response, 404, 'no such page'))
  await expect(createRemoteControlPlane(url).report(REPORT)).rejects.toBeInstanceOf(WrongServer)
})

test('any other refusal of a report is thrown', async () => {
  const { url } = await startFakeServer((_, response) =>
    answer(response, 413, { error: 'big', status: 413, code: 'too_large' }),
  )
  await expect(createRemoteControlPlane(url).report(REPORT)).rejects.toMatchObject({ code: 'too_large' })
})

test('heartbeat and release name their leases', async () => {
  const { url, requests } = await startFakeServer((_, response) =>
    answer(response, 200, { statuses: ['ok'] }),
  )
  const controlPlane = createRemoteControlPlane(url)
  const leases = [{ executionId: EXECUTION, eventId: EVENT, leaseToken: '3' }]
  expect(await controlPlane.heartbeat({ workerId: 'w', leases })).toEqual(['ok'])
  await controlPlane.release({ workerId: 'w', leases })
  const body = { worker_id: 'w', leases: [{ execution_id: EXECUTION, event_id: EVENT, lease_token: '3' }] }
  expect(requests.map(({ path, body }) => [path, body])).toEqual([
    ['/api/commands/heartbeat', body],
    ['/api/commands/release', body],
  ])
})

test('a heartbeat may wait at the server, until its caller does not want to any more', async () => {
  const asked = Promise.withResolvers<void>()
  const { url, requests } = await startFakeServer(() => asked.resolve())
  const controlPlane = createRemoteControlPlane(url)
  const caller = new AbortController()
  const waiting = controlPlane.heartbeat({
    workerId: 'w',
    leases: [],
    waitMs: 2500.4,
    signal: caller.signal,
  })
  await asked.promise
  expect(requests[0]?.body).toEqual({ worker_id: 'w', leases: [], wait_ms: 2500 })
  caller.abort()
  await expect(waiting).rejects.toThrow('aborted')
})

test('a credential comes with its data; one that is not found is null, and every other refusal an error (2)', async () => {
  const { signal } = new AbortController()
  const { url, requests } = await startFakeServer(({ path }, response) => {
    if (path.includes('nope'))
      answer(response, 404, { error: "Credential 'nope' not found", code: 'not_found' })
    else if (path.includes('closed')) answer(response, 403, { error: 'Not for you', code: 'forbidden' })
    else answer(response, 200, { id: '1', name: 'a/b', type: 'bearer', data: { token: 't' }, tags: ['x'] })
  })
  const controlPlane = createRemoteControlPlane(url)
  const ask = (alias: string) => controlPlane.credential({ executionId: EXECUTION, alias, signal })
  expect(await ask('a/b')).toEqual({ name: 'a/b', type: 'bearer', data: { token: 't' } })
  expect(requests[0]).toMatchObject({
    method: 'GET',
    path: `/api/credentials/a%2Fb?include_data=true&execution_id=${EXECUTION}`,
  })
  expect(await ask('nope')).toBeNull()
  await expect(ask('closed')).rejects.toThrow('Not for you')
})
