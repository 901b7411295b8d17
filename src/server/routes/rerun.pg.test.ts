/** Running executions again, as new ones and in place, over HTTP and on a real database. */
import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { createFamily, familyPlaybook } from '../../../test/support/family.ts'
import {
  historyProblems,
  readLog,
  storedDifferences,
  stuckExecutions,
} from '../../../test/support/history.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { textOf } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()
const NOOP = 'tool: {kind: noop}'
const PATH = 'tests/rerun'

const diamond = (extra = ''): string =>
  familyPlaybook(
    PATH,
    `
  - {step: start, ${NOOP}, set: {ctx.began: '{{ output.n }}'}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - {step: b, ${NOOP}, next: join}
  - {step: join, tool: {kind: noop, input: {a: '{{ a.n }}', b: '{{ b.n }}', greeting: '{{ workload.greeting }}'}}}
${extra}`,
    { greeting: 'hello', limit: 5 },
  )

/** Answers every command: an Error fails it. Answers the names of their steps, sorted. */
const work = async (
  server: TestServer,
  tool: (command: LeasedCommand) => Json | Error,
): Promise<readonly string[]> => {
  const worker = createScriptedWorker(server, 'w1')
  const done: string[] = []
  for (;;) {
    const commands = await worker.lease(1)
    if (commands.length === 0) return done.sort()
    for (const command of commands) {
      done.push(command.step)
      const answer = tool(command)
      await (answer instanceof Error
        ? worker.fail(command, answer.message)
        : worker.complete(command, answer))
    }
  }
}

const ok = ({ step }: LeasedCommand): Json => ({ n: step })
const failing =
  (name: string) =>
  (command: LeasedCommand): Json | Error =>
    command.step === name ? new Error(`${name} broke`) : ok(command)

const failed = async (server: TestServer, name: string, payload: JsonObject = {}): Promise<string> => {
  await server.register(diamond())
  const id = await server.execute(PATH, payload)
  await work(server, failing(name))
  return id
}

const sound = async (server: TestServer, id: string): Promise<void> => {
  expect(await historyProblems(server.core.shards.of(id), id)).toEqual([])
  expect(await stuckExecutions(server.databases)).toEqual([])
}

const statusOf = async (server: TestServer, id: string): Promise<JsonObject> =>
  (await server.get(`/api/executions/${id}/status`)).body

describe('a rerun', () => {
  test('from the start runs everything, with the workload of its origin', async () => {
    const server = await servers.start()
    const origin = await failed(server, 'a', { greeting: 'hi' })
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
    const fresh = await server.execute(PATH, { greeting: 'hi' })
    await work(server, ok)
    const types = (events: typeof log) => events.map((event) => `${event.eventType} ${event.nodeName}`)
    // A rerun from the start is a fresh run.
    expect(types(log)).toEqual(types(await readLog(server.core.shards.of(fresh), fresh)))
    await sound(server, id)
  })

  test('from what failed keeps the rest, and says so in its own log', async () => {
    const server = await servers.start()
    const origin = await failed(server, 'a')
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
    await sound(server, id)
  })

  test('from a step or an event goes on from there', async () => {
    const server = await servers.start()
    await server.register(diamond())
    const origin = await server.execute(PATH)
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
      await sound(server, id)
    }
  })

  test('under another version takes new defaults and drops what is gone', async () => {
    const server = await servers.start()
    const origin = await failed(server, 'join', { limit: 7 })
    await server.register(
      familyPlaybook(
        PATH,
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
    await server.register(familyPlaybook(PATH, `\n  - {step: start, ${NOOP}}`))
    expect(
      await server.post(`/api/executions/${origin}/rerun`, { from: 'failed', version: 3 }),
    ).toMatchObject({
      status: 422,
      body: { error: `The rerun would go on with step 'join', which version 3 of ${PATH} does not have` },
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
    const origin = await failed(server, 'a')
    const request = { from: 'failed', dedup: { key: 'once' } }
    const first = await server.post(`/api/executions/${origin}/rerun`, request)
    const second = await server.post(`/api/executions/${origin}/rerun`, request)
    expect(second.body).toMatchObject({ execution_id: first.body['execution_id'], status: 'duplicate' })
  })

  test('is refused clearly', async () => {
    const server = await servers.start()
    await server.register(diamond())
    const id = await server.execute(PATH)
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

describe('a diff', () => {
  test('finds where a rerun went another way than its origin', async () => {
    const server = await servers.start()
    const origin = await failed(server, 'a', { api_key: 'secret-one' })
    const { body } = await server.post(`/api/executions/${origin}/rerun`, {
      workload: { api_key: 'secret-two', limit: 6 },
    })
    const id = textOf(body['execution_id'])
    await work(server, ok)
    const answer = await server.get(`/api/executions/diff?a=${origin}&b=${id}`)
    expect(answer.body).toMatchObject({
      same: false,
      a: { execution_id: origin, status: 'FAILED' },
      b: { execution_id: id, status: 'COMPLETED', origin_execution_id: origin },
      first_difference: { aspect: 'workload', text: 'workload.limit is 5 and 6' },
      workload: [
        { path: 'limit', a: 5, b: 6 },
        { path: 'api_key', a: '[REDACTED]', b: '[REDACTED]' },
      ],
      steps_differing: 2,
    })
    expect(answer.text).not.toContain('secret-')
    const again = await server.post(`/api/executions/${id}/rerun`, { from: { step: 'b' } })
    await work(server, ok)
    const same = await server.get(`/api/executions/diff?a=${id}&b=${textOf(again.body['execution_id'])}`)
    expect(same.body).toMatchObject({ same: true, first_difference: null })
    expect(await server.get(`/api/executions/diff?a=${id}&b=1`)).toMatchObject({ status: 404 })
    expect(await server.get(`/api/executions/diff?a=${id}`)).toMatchObject({ status: 422 })
  })

  test('takes versions that say the same for the same, and others not', async () => {
    const server = await servers.start()
    const ran = async (text: string): Promise<string> => {
      await server.register(text)
      const id = await server.execute(PATH, {})
      await work(server, ok)
      return id
    }
    const first = await ran(diamond())
    const commented = await ran(`# written again\n${diamond()}`)
    const changed = await ran(diamond(`  - {step: more, ${NOOP}}\n`))
    const differing = async (a: string, b: string): Promise<JsonObject> =>
      (await server.get(`/api/executions/diff?a=${a}&b=${b}`)).body
    expect(await differing(first, commented)).toMatchObject({
      same: true,
      same_definition: true,
      a: { version: 1 },
      b: { version: 2 },
    })
    expect(await differing(first, changed)).toMatchObject({
      same: false,
      same_definition: false,
      first_difference: { aspect: 'definition', text: `${PATH} version 1 and ${PATH} version 3` },
    })
  })
})

describe('a retry in place', () => {
  test('opens the execution, runs what failed, and ends again', async () => {
    const server = await servers.start()
    const id = await failed(server, 'a')
    expect(await statusOf(server, id)).toMatchObject({ status: 'FAILED', progress: { failed_steps: 1 } })
    const { status, body } = await server.post(`/api/executions/${id}/retry`, { reason: 'fixed it' })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'reopened', steps: ['a'], commands_generated: 1 },
    })
    expect(await statusOf(server, id)).toMatchObject({
      status: 'RUNNING',
      error: null,
      progress: { running_steps: 1, failed_steps: 0 },
    })
    expect((await server.get('/api/executions?status=RUNNING')).text).toContain(id)
    await sound(server, id)
    expect(await work(server, ok)).toEqual(['a', 'join'])
    expect(await statusOf(server, id)).toMatchObject({
      status: 'COMPLETED',
      error: null,
      progress: { completed_steps: 4, failed_steps: 0 },
    })
    expect((await server.get(`/api/executions/${id}/result`)).body).toMatchObject({
      status: 'COMPLETED',
      data: { n: 'join' },
    })
    expect((await server.get(`/api/executions/${id}/explain?step=a`)).body).toMatchObject({
      verdict: 'completed',
      run: 2,
      brought_by: 'reopened',
    })
    await sound(server, id)
  })

  test('is seen by a server that had forgotten the execution', async () => {
    const [one, two] = [await servers.start(), await servers.start()]
    const id = await failed(one, 'a')
    await two.post(`/api/executions/${id}/retry`, {})
    expect(await work(one, ok)).toEqual(['a', 'join'])
    expect(await statusOf(two, id)).toMatchObject({ status: 'COMPLETED' })
    await sound(one, id)
  })

  test('streams on after the first end', async () => {
    const server = await servers.start()
    const id = await failed(server, 'a')
    await server.post(`/api/executions/${id}/retry`, {})
    await work(server, ok)
    const { text } = await server.get(`/api/executions/${id}/stream`)
    expect(text).toMatch(
      /event: playbook\.failed[^]*event: playbook\.reopened[^]*event: playbook\.completed[^]*event: end\ndata: {"status":"COMPLETED"/,
    )
  })

  test('of a cancelled execution goes on with what was stopped', async () => {
    const server = await servers.start()
    await server.register(diamond())
    const id = await server.execute(PATH)
    await server.post(`/api/executions/${id}/cancel`, {})
    await server.post(`/api/executions/${id}/retry`, {})
    expect(await work(server, ok)).toEqual(['a', 'b', 'join', 'start'])
    await sound(server, id)
  })

  test('is refused clearly', async () => {
    const server = await servers.start()
    const id = await failed(server, 'a')
    const ask = (body: unknown) => server.post(`/api/executions/${id}/retry`, body)
    expect(await ask({ steps: ['x'] })).toMatchObject({
      status: 422,
      body: { error: "Step 'x' is not in the playbook; it has: start, a, b, join" },
    })
    expect(await ask({ steps: ['b'] })).toMatchObject({
      status: 422,
      body: { error: "Step 'b' did not fail; these did: a" },
    })
    await ask({})
    expect(await ask({})).toMatchObject({
      status: 409,
      body: { error: `Execution ${id} is still running; there is nothing to retry yet` },
    })
    await work(server, ok)
    expect(await ask({})).toMatchObject({ status: 409 })
    expect(await server.post('/api/executions/1/retry', {})).toMatchObject({ status: 404 })
    await server.core.shards
      .of(id)
      .query('update noetl.execution set imported = true where execution_id = $1', [id])
    expect(await ask({})).toMatchObject({
      status: 409,
      body: { error: `Execution ${id} was imported and is only shown here; rerun it instead` },
    })
  })
})

describe('a retry of a child', () => {
  const PARENT = 'tests/parent'
  const parent = familyPlaybook(
    PARENT,
    `\n  - {step: start, tool: {kind: playbook, path: ${PATH}, return_result: true}}`,
  )

  test('before its parent heard of the failure is waited for on', async () => {
    const family = createFamily(await servers.start())
    const { server } = family
    await server.register(diamond())
    await server.register(parent)
    const id = await server.execute(PARENT)
    const [start] = await family.leaseStarts()
    if (!start) throw new Error('nothing to start')
    await family.report(start, await family.start(start))
    await work(server, failing('a'))
    const child = start.eventId
    expect(await family.row(child)).toMatchObject({ status: 'FAILED' })
    await server.post(`/api/executions/${child}/retry`, {})
    // The news of the first end arrives only now.
    await family.timers.runOnce()
    expect(await family.row(id)).toMatchObject({ status: 'RUNNING' })
    await work(server, ok)
    await family.settle()
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })

  test('that failed its parent leaves the parent to a retry of its own', async () => {
    const family = createFamily(await servers.start())
    const { server } = family
    await server.register(diamond())
    await server.register(parent)
    const id = await server.execute(PARENT)
    await family.settle(failing('a'))
    expect(await family.row(id)).toMatchObject({ status: 'FAILED' })
    const [child = ''] = await family.children(id)
    await server.post(`/api/executions/${child}/retry`, {})
    await family.settle(ok)
    expect(await family.row(child)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.row(id)).toMatchObject({ status: 'FAILED' })
    await server.post(`/api/executions/${id}/retry`, {})
    await family.settle(ok)
    expect(await family.row(id)).toMatchObject({ status: 'COMPLETED' })
    expect(await family.problems()).toEqual([])
  })
})
