/** What fails, what handles it, and how an execution ends. */
import { afterAll, expect, test } from 'vitest'
import { EVENT, terminalStatusOf } from '../../src/contract/event.ts'
import { evolve } from '../../src/engine/evolve.ts'
import { decodeState, encodeState } from '../../src/engine/snapshot.ts'
import { createState } from '../../src/engine/state.ts'
import { startTestServer } from '../../src/worker/tools/http/test-server.ts'
import type { PlaybookRun } from '../support/playbook-run.ts'
import { playbookText, useProduct } from '../support/playbook-run.ts'
import { startServer } from '../support/server.ts'

const product = useProduct()
const { ended, get, look, post, register, run, seen, start } = product

const web = await startTestServer()
afterAll(() => web.close())

const terminal = ({ events }: PlaybookRun) =>
  events.filter((event) => terminalStatusOf(event.eventType) !== null)

test('case 96: an SQL error in a plain step fails the execution with its SQLSTATE, and nothing follows', async () => {
  const { status, error, runs } = await run(
    {
      top: 'workload: { url: "" }',
      steps: `
        - { step: start, tool: { kind: postgres, auth: { connection_string: "{{ url }}" }, query: "select * from nowhere" }, next: after }
        - { step: after, tool: { kind: noop } }`,
    },
    { payload: { url: product.databaseUrl() } },
  )
  expect(status).toBe('FAILED')
  expect(error).toContain('42P01')
  expect(runs).toEqual(['start'])
})

test('case 97 (as settled: one verdict for a failed tool): after a python exception an unconditional next does not run', async () => {
  const { status, error, runs, skipped } = await run(`
    - { step: start, tool: { kind: python, code: "raise ValueError('no luck')" }, next: after }
    - { step: after, tool: { kind: noop } }`)
  expect(status).toBe('FAILED')
  expect(error).toContain('no luck')
  expect(runs).toEqual(['start'])
  expect(skipped).toEqual(['after upstream_failed'])
})

test('case 98: a 404 whose arc asks for the status code is handled, and the execution completes', async () => {
  const { status, runs } = await run(`
    - step: start
      tool: { kind: http, url: "${web.url}/nowhere" }
      next: { arcs: [ { step: missing, when: "{{ start.status_code == 404 }}" }, { step: after } ] }
    - { step: missing, tool: { kind: noop } }
    - { step: after, tool: { kind: noop } }`)
  expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'missing'] })
})

test('case 99: a failure whose arc asks for call.error is handled, and the execution completes', async () => {
  const { status, runs, data } = await run(`
    - step: start
      tool: { kind: python, code: "raise ValueError('no luck')" }
      next: { arcs: [ { step: after }, { step: handler, when: "{{ event.name == 'call.error' }}", set: { ctx.why: "{{ output.error.message }}" } } ] }
    - { step: after, tool: { kind: noop } }
    - { step: handler, tool: { kind: noop, result: "{{ why }}" } }`)
  expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'handler'] })
  expect(data('handler')).toContain('no luck')
})

test('case 100: the other branch finishes, then exactly one playbook.failed ends the execution', async () => {
  const found = await run(`
    - { step: start, tool: { kind: noop }, next: [bad, slow] }
    - { step: bad, tool: { kind: python, code: "raise ValueError('no luck')" } }
    - { step: slow, tool: { kind: python, code: "import time; time.sleep(0.3); result = 1" }, next: last }
    - { step: last, tool: { kind: noop } }`)
  expect(found.status).toBe('FAILED')
  expect(found.runs).toEqual(['start', 'bad', 'slow', 'last'])
  expect(terminal(found).map((event) => event.eventType)).toEqual([EVENT.failed])
  expect(found.events.at(-1)).toMatchObject({ eventType: EVENT.failed, meta: { failed_steps: ['bad'] } })
})

test.each([
  ['a single tool', 'tool: { kind: postgres, query: select 1, auth: no_such_alias }'],
  ['an http call', `tool: { kind: http, url: "${web.url}/echo", auth: no_such_alias }`],
  ['a task', 'tool: [ { one: { kind: postgres, query: select 1, auth: no_such_alias } } ]'],
  [
    'a cursor',
    'loop: { cursor: { claim: select 1, auth: no_such_alias }, iterator: row, spec: { mode: cursor } }, tool: { kind: noop }',
  ],
])('case 101: an unknown credential of %s fails at once and is named', async (_, keys) => {
  const { status, error, commands } = await run(`- { step: start, ${keys} }`)
  expect(status).toBe('FAILED')
  expect(error).toContain('no_such_alias')
  expect(error).not.toContain('could not be fetched')
  expect(commands).toHaveLength(1)
})

test('case 102: a template error in the first command fails the execution', async () => {
  const catalog_id = await register({
    top: 'workload: { text: not json }',
    steps: '- { step: start, tool: { kind: noop, result: "{{ text | fromjson }}" } }',
  })
  const { status, body } = await post('/api/execute', { catalog_id })
  expect(status).toBe(422)
  const { execution_id } = body['details'] as { execution_id: string }
  const found = await ended(execution_id)
  expect(found.status).toBe('FAILED')
  expect(found.error).toMatch(/^Orchestrator evaluate failed: Step 'start'/)
})

const SLEEPER = `
  - { step: start, tool: { kind: shell, command: "sleep 20" }, next: after }
  - { step: after, tool: { kind: noop } }`

test('case 103: cancelling while a step runs ends the execution at once, and nothing follows', async () => {
  const id = await start(SLEEPER)
  await seen(id, (event) => event.eventType === EVENT.commandClaimed)
  expect((await post(`/api/executions/${id}/cancel`, { reason: 'enough' })).status).toBe(200)
  const found = await ended(id)
  expect({ status: found.status, runs: found.runs }).toEqual({ status: 'CANCELLED', runs: ['start'] })
  expect((await post(`/api/executions/${id}/cancel`, {})).status).toBe(422)
  expect((await get(`/api/executions/${id}/status`)).body).toMatchObject({
    status: 'CANCELLED',
    is_cancelled: true,
  })
})

test('case 103: the completion of a cancelled step is recorded, and a queued command cannot be claimed', async () => {
  const id = await start(
    `
    - { step: start, tool: { kind: noop }, next: [a, b] }
    - { step: a, tool: { kind: python, code: "result = 1" }, next: after }
    - { step: b, tool: { kind: python, code: "result = 1" } }
    - { step: after, tool: { kind: noop } }`,
    { pool: 'by-hand' },
  )
  const claim = (eventId: string | undefined) => post(`/api/commands/${eventId}/claim`, { worker_id: 'hand' })
  const done = (step: string) =>
    post('/api/events', {
      execution_id: id,
      step,
      event_type: 'command.completed',
      worker_id: 'hand',
      payload: { result: { status: 'success', context: { data: 1 } } },
    })
  await done('start')
  const [, a, b] = (await look(id)).commands
  expect((await claim(a?.eventId)).status).toBe(200)
  expect((await post(`/api/executions/${id}/cancel`, {})).status).toBe(200)
  expect((await claim(b?.eventId)).status).toBe(409)
  expect((await done('a')).status).toBe(200)
  const found = await ended(id)
  expect(found.status).toBe('CANCELLED')
  expect(found.events.at(-1)).toMatchObject({ eventType: EVENT.commandCompleted, nodeName: 'a' })
  expect(found.runs).toEqual(['start', 'a', 'b'])
})

test('case 104: the terminal event carries the result of end', async () => {
  const found = await run(`
    - { step: start, tool: { kind: noop }, next: [end, other] }
    - { step: end, tool: { kind: noop, result: { total: 42 } } }
    - { step: other, tool: { kind: python, code: "import time; time.sleep(0.1); result = 'later'" } }`)
  expect(found.events.at(-1)?.result).toEqual({ status: 'COMPLETED', context: { data: { total: 42 } } })
})

const DECIDING = `
  - { step: start, tool: { kind: noop }, set: { ctx.n: 1 }, next: each }
  - { step: each, loop: { in: [1, 2, 3], iterator: item, spec: { mode: parallel, max_in_flight: 2 } }, tool: { kind: noop, result: "{{ item * 2 }}" }, next: { arcs: [ { step: good, when: "{{ each.results | sum == 12 }}" }, { step: bad } ] } }
  - { step: good, tool: { kind: noop, result: "{{ ctx.n }}" } }
  - { step: bad, tool: { kind: noop } }`

test('case 105: the log folds to the same state from scratch and from any snapshot plus the tail, and twice is once', async () => {
  const { executionId, events } = await run(DECIDING)
  const whole = createState(executionId)
  const states = events.map((event) => {
    evolve(whole, event)
    return encodeState(whole)
  })
  for (const [index, snapshot] of states.entries()) {
    const state = decodeState(snapshot)
    if (!state) throw new Error('the snapshot cannot be read')
    for (const event of events.slice(index + 1)) {
      evolve(state, event)
      evolve(state, event)
    }
    expect(encodeState(state)).toBe(states.at(-1))
  }
})

test('case 105: a server that knows nothing but the log makes the same decisions', async () => {
  const expected = await run(DECIDING)
  // Every command is completed through a server that was started for it alone.
  const id = await start(playbookText(DECIDING), { pool: 'by-hand' })
  for (;;) {
    const { state, commands } = await look(id)
    const [open] = state.commands.values()
    if (!open) break
    const issued = commands.find((event) => event.eventId === open.eventId)
    const data =
      (issued?.context as { tool_config?: { result?: number } } | null)?.tool_config?.result ?? null
    const server = await startServer([product.databaseUrl()], { machineId: 900 })
    const { status } = await server.post('/api/events', {
      execution_id: id,
      step: open.step,
      event_type: 'command.completed',
      payload: { command_id: open.commandId, result: { status: 'success', context: { data } } },
    })
    await server.close()
    expect(status).toBe(200)
  }
  const found = await ended(id)
  const decisions = ({ events }: PlaybookRun): readonly string[] =>
    events
      .filter(({ eventType }) =>
        [EVENT.stepEnter, EVENT.stepExit, EVENT.stepSkipped, EVENT.contextUpdated, EVENT.completed].some(
          (type) => type === eventType,
        ),
      )
      .map(({ eventType, nodeName, result }) => {
        // The id of the run that wrote a variable is new each time.
        const { gen: _gen, ...context } = result?.context ?? {}
        return `${eventType} ${nodeName} ${JSON.stringify(context)}`
      })
  expect(decisions(found)).toEqual(decisions(expected))
})
