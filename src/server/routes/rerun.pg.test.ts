/** Running executions again as new ones, over HTTP and on a real database. */
import { describe, expect, test } from 'vitest'
import type { Json } from '../../contract/json.ts'
import {
  aFailed,
  DIAMOND,
  diamond,
  expectSound,
  NOOP,
  ok,
  statusOf,
  work,
} from '../../../test/support/diamond.ts'
import { familyPlaybook } from '../../../test/support/family.ts'
import { readLog, storedDifferences } from '../../../test/support/history.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()

describe('a rerun', () => {
  test('from the start runs everything, with the workload of its origin', async () => {
    const server = await servers.start()
    const origin = await aFailed(server, 'a', { greeting: 'hi' })
    const { status, body } = await server.post(`/api/executions/${origin}/rerun`, {})
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        status: 'started',
        commands_generated: 1,
        origin_execution_id: origin,
        origin_event: null,
        kept_steps: [],
      },
    })
    const id = textOf(body['execution_id'])
    expect(await work(server, ok)).toEqual(['a', 'b', 'join', 'start'])
    const log = await readLog(server.core.shards.of(id), id)
    expect(log[0]?.context).toMatchObject({ workload: { greeting: 'hi', limit: 5 } })
    const fresh = await server.execute(DIAMOND, { greeting: 'hi' })
    await work(server, ok)
    const types = (events: typeof log) => events.map((event) => `${event.eventType} ${event.nodeName}`)
    // A rerun from the start is a fresh run.
    expect(types(log)).toEqual(types(await readLog(server.core.shards.of(fresh), fresh)))
    await expectSound(server, id)
  })

  test('from what failed keeps the rest, and says so in its own log', async () => {
    const server = await servers.start()
    const origin = await aFailed(server, 'a')
    const { body } = await server.post(`/api/executions/${origin}/rerun`, {
      from: 'failed',
      workload: { greeting: 'edited' },
      variables: { extra: 1 },
    })
    expect(body).toMatchObject({
      kept_steps: ['start', 'b'],
      dropped_steps: [],
      commands_generated: 1,
    })
    const id = textOf(body['execution_id'])
    expect(await work(server, ok)).toEqual(['a', 'join'])
    expect(await statusOf(server, id)).toMatchObject({ status: 'COMPLETED' })
    const log = await readLog(server.core.shards.of(id), id)
    const join = log.find((event) => event.eventType === 'command.issued' && event.nodeName === 'join')
    expect(join?.context).toMatchObject({ args: { a: 'a', b: 'b', greeting: 'edited' } })
    const state = await server.get(`/api/executions/${id}/state`)
    expect(state.body).toMatchObject({
      origin: { execution_id: origin, event_id: body['origin_event'] },
      variables: { began: 'start', extra: 1 },
    })
    // What it kept did not run in it.
    expect(await server.post(`/api/executions/${id}/rerun`, { from: { step: 'b' } })).toMatchObject({
      status: 422,
      body: {
        error: `Step 'b' did not run in execution ${id}; if it was kept from execution ${origin}, rerun that one`,
      },
    })
    // The origin is left alone.
    expect(await statusOf(server, origin)).toMatchObject({ status: 'FAILED' })
    const { rows } = await server.core.shards
      .of(id)
      .query('select origin_execution_id, origin_event from noetl.execution where execution_id = $1', [id])
    expect(rows).toEqual([{ origin_execution_id: origin, origin_event: body['origin_event'] }])
    await expectSound(server, id)
  })

  test('from a step or an event goes on from there', async () => {
    const server = await servers.start()
    await server.register(diamond())
    const origin = await server.execute(DIAMOND)
    await work(server, ok)
    const byStep = await server.post(`/api/executions/${origin}/rerun`, { from: { step: 'b' } })
    expect(byStep.body).toMatchObject({ kept_steps: ['start', 'a'] })
    expect(await work(server, ok)).toEqual(['b', 'join'])
    const log = await readLog(server.core.shards.of(origin), origin)
    const entered = log.find((event) => event.eventType === 'step.enter' && event.nodeName === 'join')
    const byEvent = await server.post(`/api/executions/${origin}/rerun`, {
      from: { event_id: entered?.eventId },
    })
    expect(byEvent.body).toMatchObject({ origin_event: entered?.eventId, kept_steps: ['start', 'a', 'b'] })
    expect(await work(server, ok)).toEqual(['join'])
    for (const { body } of [byStep, byEvent]) {
      const id = textOf(body['execution_id'])
      expect(await statusOf(server, id)).toMatchObject({
        status: 'COMPLETED',
        progress: { completed_steps: 4 },
      })
      await expectSound(server, id)
    }
  })

  test('under another version takes new defaults and drops what is gone', async () => {
    const server = await servers.start()
    const origin = await aFailed(server, 'join', { limit: 7 })
    await server.register(
      familyPlaybook(
        DIAMOND,
        `
  - {step: start, ${NOOP}, next: b}
  - {step: b, ${NOOP}, next: join}
  - {step: join, tool: {kind: noop, input: {g: '{{ workload.greeting }}', l: '{{ workload.limit }}', b: '{{ b.n }}'}}}`,
        { greeting: 'bonjour', limit: 5 },
      ),
    )
    const { body } = await server.post(`/api/executions/${origin}/rerun`, { from: 'failed', version: 2 })
    expect(body).toMatchObject({ kept_steps: ['start', 'b'], dropped_steps: ['a'] })
    const [command] = await createScriptedWorker(server, 'w1').lease()
    expect(command?.context.args).toEqual({ g: 'bonjour', l: 7, b: 'b' })
    await server.register(familyPlaybook(DIAMOND, `\n  - {step: start, ${NOOP}}`))
    expect(
      await server.post(`/api/executions/${origin}/rerun`, { from: 'failed', version: 3 }),
    ).toMatchObject({
      status: 422,
      body: { error: `The rerun would go on with step 'join', which version 3 of ${DIAMOND} does not have` },
    })
  })

  test('has copies of large results: its origin may go', async () => {
    const server = await servers.start()
    const path = 'tests/large'
    await server.register(
      familyPlaybook(
        path,
        `
  - {step: start, ${NOOP}, next: b}
  - {step: b, tool: {kind: noop, input: {size: '{{ start.long | length }}'}}}`,
      ),
    )
    const origin = await server.execute(path)
    await work(server, ({ step }) => (step === 'b' ? new Error('no') : { long: 'x'.repeat(150_000) }))
    const { body } = await server.post(`/api/executions/${origin}/rerun`, { from: 'failed' })
    const id = textOf(body['execution_id'])
    const payloads = async (): Promise<Json | undefined> =>
      (await server.get(`/api/replay/state?execution_id=${origin}&resolve_payloads=true`)).body[
        'payload_resolution_summary'
      ]
    expect(await payloads()).toMatchObject({ total: 1, resolved: 1 })
    await server.core.shards.of(origin).query('delete from noetl.result where execution_id = $1', [origin])
    expect(await payloads()).toMatchObject({ total: 1, resolved: 0 })
    await createScriptedWorker(server, 'w1').drain()
    const again = await server.post(`/api/executions/${id}/rerun`, { from: { step: 'b' } })
    expect(again.body).toMatchObject({ status: 'started' })
    const [command] = await createScriptedWorker(server, 'w1').lease()
    expect(command).toMatchObject({
      executionId: again.body['execution_id'],
      context: { args: { size: 150_000 } },
    })
    // The doctor misses what was taken from the origin, and nothing of those that were run again.
    servers.leaveUnexamined()
    expect(await storedDifferences(server.core)).toEqual([
      expect.stringContaining(`noetl://execution/${origin}/result/start`),
    ])
  })

  test('with a key is started once', async () => {
    const server = await servers.start()
    const origin = await aFailed(server, 'a')
    const request = { from: 'failed', dedup: { key: 'once' } }
    const first = await server.post(`/api/executions/${origin}/rerun`, request)
    const second = await server.post(`/api/executions/${origin}/rerun`, request)
    expect(second.body).toMatchObject({ execution_id: first.body['execution_id'], status: 'duplicate' })
  })

  test('is refused clearly', async () => {
    const server = await servers.start()
    await server.register(diamond())
    const id = await server.execute(DIAMOND)
    const ask = (body: unknown) => server.post(`/api/executions/${id}/rerun`, body)
    expect(await server.post('/api/executions/1/rerun', {})).toMatchObject({ status: 404 })
    expect(await ask({ from: 'failed' })).toMatchObject({
      status: 409,
      body: { error: `Execution ${id} is still running; it can be rerun from a step or an event` },
    })
    expect(await ask({ from: { step: 'x' } })).toMatchObject({ status: 422 })
    expect(await ask({ from: { step: 'join' } })).toMatchObject({
      status: 422,
      body: { error: `Step 'join' did not run in execution ${id}` },
    })
    expect(await ask({ from: { event_id: '17' } })).toMatchObject({
      status: 422,
      body: { error: `Execution ${id} has no event 17` },
    })
    expect(await ask({ from: 'the middle' })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining("from must be 'start'") },
    })
    expect(await ask({ version: 99 })).toMatchObject({ status: 404 })
    await work(server, ok)
    expect(await ask({ from: 'failed' })).toMatchObject({
      status: 409,
      body: {
        error: `Execution ${id} is COMPLETED and nothing in it failed; rerun it from the start or from a step`,
      },
    })
  })
})
