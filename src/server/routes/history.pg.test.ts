/** Time travel over HTTP: the state at any place of a log, and why steps did what they did. */
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '../../contract/json.ts'
import { familyPlaybook } from '../../../test/support/family.ts'
import { readLog } from '../../../test/support/history.ts'
import { createScriptedWorker } from '../../../test/support/scripted-worker.ts'
import type { TestServer } from '../../../test/support/server.ts'
import { useServers } from '../../../test/support/servers.ts'

const servers = useServers()

const NOOP = 'tool: {kind: noop}'
const PATH = 'tests/history'
const PLAYBOOK = familyPlaybook(
  PATH,
  `
  - {step: start, ${NOOP}, set: {ctx.seen: '{{ output.score }}'}, next: [a, b]}
  - {step: a, ${NOOP}, next: join}
  - step: b
    loop: {in: [1, 2, 3], iterator: item, spec: {mode: parallel, max_in_flight: 2}}
    ${NOOP}
    next: join
  - {step: join, ${NOOP}, next: {arcs: [{step: high, when: '{{ ctx.seen > 10 }}'}]}}
  - {step: high, ${NOOP}}`,
  { password: 'hunter2', name: 'Ada' },
)

const begin = async (server: TestServer): Promise<string> => {
  await server.register(PLAYBOOK)
  return server.execute(PATH)
}

const items = (value: Json | undefined): readonly JsonObject[] => value as unknown as readonly JsonObject[]
const namesOf = (value: Json | undefined, state: string): readonly Json[] =>
  items(value)
    .filter((step) => step['state'] === state)
    .map((step) => step['step'] ?? null)

describe('the state', () => {
  test('as it is now says what runs and why it waits', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const worker = createScriptedWorker(server, 'w1')
    const [first] = await worker.lease()
    if (first) await worker.complete(first, { score: 7 })
    await worker.lease(1)
    const { status, body } = await server.get(`/api/executions/${id}/state`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      execution_id: id,
      status: 'RUNNING',
      variables: { seen: 7 },
      workload: { password: '[REDACTED]', name: 'Ada' },
      progress: { total_steps: 3, completed_steps: 1, running_steps: 2, failed_steps: 0 },
      commands_total: 3,
      origin: null,
    })
    expect(body['position']).toBe(body['last_position'])
    expect(namesOf(body['steps'], 'running')).toEqual(['a', 'b'])
    expect(namesOf(body['steps'], 'not_reached')).toEqual(['join', 'high'])
    expect(items(body['steps'])[2]).toMatchObject({
      step: 'b',
      loop: { total: 3, issued: 2, running: 2, done: 0, failed: 0, window: 2 },
    })
    expect(items(body['commands']).map((command) => command['waits'])).toEqual([
      { for: 'report', pool: 'shared', worker: 'w1', until: expect.stringMatching(/^\d{4}-/) },
      { for: 'worker', pool: 'shared' },
      { for: 'worker', pool: 'shared' },
    ])
  })

  test('with secrets is for those who ask, and one step can be had whole', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const worker = createScriptedWorker(server, 'w1')
    const [first] = await worker.lease()
    const long = 'x'.repeat(9000)
    if (first) await worker.complete(first, { score: 1, long })
    const all = await server.get(`/api/executions/${id}/state?include_secrets=true`)
    expect(all.body['workload']).toEqual({ password: 'hunter2', name: 'Ada' })
    expect(items(all.body['steps'])[0]).toMatchObject({ data: { score: 1, long: { _len: 9000 } } })
    const one = await server.get(`/api/executions/${id}/state?step=start`)
    expect(items(one.body['steps'])).toHaveLength(1)
    expect(items(one.body['steps'])[0]).toMatchObject({ data: { score: 1, long } })
  })

  test('of the past is the same by event, by position and by time', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const worker = createScriptedWorker(server, 'w1')
    await worker.drain({ score: 11 })
    const log = await readLog(server.core.shards.of(id), id)
    const exit = log.find((event) => event.eventType === 'step.exit' && event.nodeName === 'start')
    if (!exit) throw new Error('start was not left')
    const byPosition = await server.get(`/api/executions/${id}/state?as_of_position=${exit.position}`)
    const byEvent = await server.get(`/api/executions/${id}/state?as_of_event_id=${exit.eventId}`)
    expect(byPosition.body).toMatchObject({
      position: exit.position,
      event_id: exit.eventId,
      status: 'RUNNING',
    })
    expect(byEvent.body).toEqual(byPosition.body)
    expect(byPosition.body['tokens']).toEqual([
      { from: 'start', to: 'a' },
      { from: 'start', to: 'b' },
    ])
    const last = log.at(-1)
    const byTime = await server.get(`/api/executions/${id}/state?as_of_time=${last?.createdAt}`)
    expect(byTime.body).toMatchObject({
      position: last?.position,
      status: 'COMPLETED',
      finished_at: last?.createdAt,
    })
    const everyPosition = await Promise.all(
      log.map((event) => server.get(`/api/executions/${id}/state?as_of_event_id=${event.eventId}`)),
    )
    expect(everyPosition.map(({ body }) => body['position'])).toEqual(log.map((event) => event.position))
  })

  test('is refused where there is none', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const ask = (query: string) => server.get(`/api/executions/${id}/state?${query}`)
    expect(await server.get('/api/executions/1/state')).toMatchObject({ status: 404 })
    expect(await ask('as_of_event_id=12')).toMatchObject({
      status: 404,
      body: { error: `Execution ${id} has no event 12` },
    })
    expect(await ask('as_of_time=2001-01-01T00:00:00Z')).toMatchObject({ status: 404 })
    expect(await ask('as_of_position=1&as_of_time=2001-01-01T00:00:00Z')).toMatchObject({ status: 422 })
    expect(await ask('as_of_position=0')).toMatchObject({ status: 422 })
    expect(await ask('step=nowhere')).toMatchObject({ status: 404 })
  })
})

describe('an explanation', () => {
  test('names the condition and what it saw, for now and for the past', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const worker = createScriptedWorker(server, 'w1')
    const [first] = await worker.lease()
    if (first) await worker.complete(first, { score: 3 })
    const [a] = await worker.lease()
    if (a) await worker.complete(a)
    const waiting = await server.get(`/api/executions/${id}/explain?step=join`)
    expect(waiting.body).toMatchObject({
      verdict: 'waits',
      join: { arrived: ['a'], missing: [{ from: 'b', because: ['b'] }] },
    })
    const at = Number(waiting.body['position'])
    await worker.drain()
    const skipped = await server.get(`/api/executions/${id}/explain?step=high`)
    expect(skipped.body).toMatchObject({
      verdict: 'skipped',
      arcs: [
        {
          from: 'join',
          fired: false,
          reason: 'condition_false',
          values: { 'ctx.seen': 3 },
          evaluated_again: true,
        },
      ],
    })
    expect(skipped.body['text']).toContain('its condition {{ ctx.seen > 10 }} was false (ctx.seen = 3)')
    const then = await server.get(`/api/executions/${id}/explain?step=join&as_of_position=${at}`)
    expect(then.body).toEqual(waiting.body)
    const ran = await server.get(`/api/executions/${id}/explain?step=join&run=1`)
    expect(ran.body).toMatchObject({ verdict: 'completed', join: { arrived: ['a', 'b'] } })
  })

  test('says what a running step waits for', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const { body } = await server.get(`/api/executions/${id}/explain?step=start`)
    expect(body).toMatchObject({
      verdict: 'running',
      brought_by: 'entry',
      waits: [{ for: 'worker', pool: 'shared', index: null }],
      policy: { on_error: 'fail', handled: false },
    })
  })

  test('of a loop that a retry went on with says how it came out at last', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const worker = createScriptedWorker(server, 'w1')
    const text = async (query: string): Promise<Json | undefined> =>
      (await server.get(`/api/executions/${id}/explain?${query}`)).body['text']
    for (;;) {
      const [command] = await worker.lease(1)
      if (!command) break
      await (command.step === 'b' ? worker.fail(command, 'no') : worker.complete(command, { score: 12 }))
    }
    const first = 'b ran and failed: no\n  the arc from start fired: it has no condition'
    expect(await text('step=b')).toBe(first)
    await server.post(`/api/executions/${id}/retry`, {})
    expect(await text('step=b')).toContain('b (run 2) is running\n  it was run again by a retry')
    await worker.drain()
    expect(await text('step=b')).toBe('b (run 2) ran and completed\n  it was run again by a retry')
    expect(await text('step=b&run=1')).toBe(first)
    expect(await text('step=high')).toContain('high ran and completed')
    const { body } = await server.get(`/api/replay/state?execution_id=${id}`)
    expect(Object.values(body['loops'] as JsonObject)).toMatchObject([
      { step_name: 'b', total: 3, done: 3, failed: 2, completed: true },
    ])
  })

  test('tells what the end of the execution stopped', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const worker = createScriptedWorker(server, 'w1')
    const [first] = await worker.lease()
    if (first) await worker.complete(first, { score: 7 })
    await server.post(`/api/executions/${id}/cancel`, {})
    const { body } = await server.get(`/api/executions/${id}/state`)
    expect(namesOf(body['steps'], 'stopped')).toEqual(['a', 'b'])
    expect(items(body['steps'])[2]).toMatchObject({ loop: { total: 3, running: 0, done: 0 } })
  })

  test('reads data that is stored apart', async () => {
    const server = await servers.start({ resultBytesAtHand: 1 })
    const path = 'tests/apart'
    await server.register(
      familyPlaybook(
        path,
        `
  - {step: start, ${NOOP}, next: {arcs: [{step: b, when: '{{ start.rows | length > 2 }}'}]}}
  - {step: b, ${NOOP}}`,
      ),
    )
    const id = await server.execute(path)
    const worker = createScriptedWorker(server, 'w1')
    const [first] = await worker.lease()
    if (first) await worker.complete(first, { rows: [1, 2, 3], long: 'x'.repeat(200_000) })
    const { body } = await server.get(`/api/executions/${id}/explain?step=b`)
    expect(body).toMatchObject({
      verdict: 'running',
      arcs: [{ fired: true, values: { 'start.rows': [1, 2, 3] } }],
    })
  })

  test('hides what is sensitive', async () => {
    const server = await servers.start()
    const path = 'tests/secret-condition'
    await server.register(
      familyPlaybook(
        path,
        `
  - {step: start, ${NOOP}, next: {arcs: [{step: b, when: "{{ workload.password == 'no' }}"}]}}
  - {step: b, ${NOOP}}`,
        { password: 'hunter2' },
      ),
    )
    const id = await server.execute(path)
    await createScriptedWorker(server, 'w1').drain()
    const { text } = await server.get(`/api/executions/${id}/explain?step=b`)
    expect(text).not.toContain('hunter2')
    expect(text).toContain('[REDACTED]')
  })

  test('is refused for steps and runs that are not there', async () => {
    const server = await servers.start()
    const id = await begin(server)
    const ask = (query: string) => server.get(`/api/executions/${id}/explain?${query}`)
    expect(await ask('step=x')).toMatchObject({
      status: 422,
      body: { error: "Step 'x' is not in the playbook; it has: start, a, b, join, high" },
    })
    expect(await ask('')).toMatchObject({ status: 422 })
    expect(await ask('step=a&run=1')).toMatchObject({ status: 404 })
  })
})
