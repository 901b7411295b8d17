import { expect, test } from 'vitest'
import type { CommandReport } from '../contract/command.ts'
import { createRemoteControlPlane } from './control-plane.ts'
import { answer, startFakeServer } from './testing/fake-server.ts'

const DATA = { rows: Array.from({ length: 20_000 }, (_, id) => ({ id, text: 'ü'.repeat(40) })) }

const REPORT: CommandReport = {
  executionId: '7',
  eventId: '8',
  commandId: '7:start:8',
  step: 'start',
  workerId: 'w',
  leaseToken: '3',
  attempt: 1,
  outcome: 'ok',
  durationMs: 1,
}

const STORED = {
  ref: 'noetl://execution/7/result/start/9',
  store: 'db',
  scope: 'execution',
  bytes: 5,
  sha256: 'x',
}

/** Stores what it is given; takes reports only when told to. */
const start = async (takesReports: () => boolean = () => true) => {
  const { url, requests } = await startFakeServer(({ method }, response) => {
    if (method === 'PUT') answer(response, 200, STORED)
    else if (takesReports()) answer(response, 200, { status: 'ok', event_id: 1 })
    else answer(response, 503, { error: 'away', status: 503, code: 'unavailable' })
  })
  return { controlPlane: createRemoteControlPlane(url), requests }
}

const REFERENCE = {
  kind: 'result_ref',
  ref: STORED.ref,
  store: 'db',
  scope: 'execution',
  meta: { bytes: 5, sha256: 'x', media_type: 'application/json' },
}

test.each<[string, Partial<CommandReport>]>([
  ['bytes', { large: { json: new TextEncoder().encode(JSON.stringify(DATA)) } }],
  ['an object', { data: DATA }],
])('large data that came as %s is stored first, and the report names it', async (_form, more) => {
  const { controlPlane, requests } = await start()
  expect(await controlPlane.report({ ...REPORT, ...more })).toBe('ok')
  const [put, post, ...others] = requests
  expect(others).toEqual([])
  expect(put).toMatchObject({ method: 'PUT', path: '/api/result/7' })
  expect(put?.headers['content-type']).toBe('application/json')
  expect(put?.body).toEqual({ name: 'start', source_step: 'start', scope: 'execution', data: DATA })
  expect(post?.body).toMatchObject({
    payload: { result: { status: 'success', context: { data: { _ref: STORED.ref } }, reference: REFERENCE } },
  })
})

test('is stored once, however often its report is sent (rule 1)', async () => {
  let isBack = false
  const { controlPlane, requests } = await start(() => isBack)
  const report = { ...REPORT, data: DATA }
  await expect(controlPlane.report(report)).rejects.toMatchObject({ code: 'unavailable' })
  isBack = true
  expect(await controlPlane.report(report)).toBe('ok')
  expect(requests.map(({ method }) => method)).toEqual(['PUT', 'POST', 'POST'])
})

test('small data travels in its report', async () => {
  const { controlPlane, requests } = await start()
  await controlPlane.report({ ...REPORT, data: { n: 1 } })
  expect(requests).toHaveLength(1)
})
