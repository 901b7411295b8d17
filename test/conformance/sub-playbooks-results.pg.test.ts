/** Playbooks that run playbooks, large results, secrets, parked work. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EVENT } from '../../src/contract/event.ts'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import { useProduct } from '../support/playbook-run.ts'
import { textOf } from '../support/server.ts'

const product = useProduct()
const { ended, get, look, post, register, run, seen, start } = product

/** Notes the keys that requests bring along, and says them back. */
const keys: unknown[] = []
const web = createServer((request, response) => {
  keys.push(request.headers['x-key'])
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ seen: request.headers['x-key'] ?? null }))
})
beforeAll(() => new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise<void>((resolve) => void web.close(() => resolve())))

const CHILD = {
  path: 'conformance/child',
  top: 'workload: { n: 1, fails: false }',
  steps: `
    - { step: start, tool: { kind: noop, result: { doubled: "{{ n * 2 }}" } }, next: { arcs: [ { step: broken, when: "{{ fails }}" }, { step: end } ] } }
    - { step: broken, tool: { kind: python, code: "raise ValueError('child luck')" } }
    - { step: end, tool: { kind: noop, result: { last: true } } }`,
}

test('case 106: a sub-playbook nobody waits for gives its execution id, and is linked to its parent', async () => {
  await register(CHILD)
  const { executionId, status, data } = await run(
    '- { step: start, tool: { kind: playbook, path: conformance/child } }',
  )
  expect(status).toBe('COMPLETED')
  expect(data('start')).toMatchObject({ async: true, path: 'conformance/child', status: 'started' })
  const { execution_id } = data('start') as { execution_id: string }
  expect((await ended(execution_id)).status).toBe('COMPLETED')
  const detail = await get(`/api/executions/${execution_id}`)
  expect(textOf(detail.body['parent_execution_id'])).toBe(executionId)
})

test('case 107: return_step gives the fields of that step of the child', async () => {
  await register(CHILD)
  const { error, data } = await run(`
    - { step: start, tool: { kind: playbook, path: conformance/child, return_step: start, input: { n: 21 } }, next: read }
    - { step: read, tool: { kind: noop, result: ["{{ start.doubled }}", "{{ start._status }}"] } }`)
  expect(error).toBeNull()
  expect(data('read')).toEqual([42, 'COMPLETED'])
})

test('case 107: the failure of a child fails the step that waits for it', async () => {
  await register(CHILD)
  const { status, error } = await run(
    '- { step: start, tool: { kind: playbook, path: conformance/child, return_step: start, input: { fails: true } } }',
  )
  expect(status).toBe('FAILED')
  expect(error).toContain('child luck')
})

test('case 108: the input of a pipeline task arrives as the payload of the child', async () => {
  await register(CHILD)
  const { error, data } = await run(`
    - step: start
      tool:
        - first: { kind: noop, result: 21 }
        - child: { kind: playbook, path: conformance/child, return_step: start, input: { n: "{{ first }}" } }
        - after: { kind: noop, result: "{{ child.doubled + 1 }}" }`)
  expect(error).toBeNull()
  expect(data('start')).toMatchObject({ child: { doubled: 42 }, after: 43 })
})

test('case 108: rules on a sub-playbook of its own are honoured, and its data keeps its shape', async () => {
  await register(CHILD)
  const { error, data } = await run(`
    - step: start
      tool:
        kind: playbook
        path: conformance/child
        return_step: start
        input: { n: 4 }
        spec: { policy: { rules: [ { else: { then: { do: continue, set: { ctx.seen: "{{ output.data.doubled }}" } } } } ] } }
      next: read
    - { step: read, tool: { kind: noop, result: ["{{ seen }}", "{{ start.doubled }}"] } }`)
  expect(error).toBeNull()
  expect(data('read')).toEqual([8, 8])
})

const LARGE = `{ kind: python, code: "result = {'count': 1200, 'rows': [{'id': i, 'text': 'x' * 100} for i in range(1200)]}" }`

test('case 109: a result over 100 KB is stored apart, and every part of it can be read in tools and guards', async () => {
  const found = await run(`
    - step: start
      tool: ${LARGE}
      next: { arcs: [ { step: read, when: "{{ start.rows | length == 1200 and start.rows[1100].id == 1100 and start.count == 1200 }}" } ] }
    - step: read
      tool: { kind: noop, result: ["{{ start.count }}", "{{ start._ref is defined }}", "{{ start.rows[1100].id }}", "{{ start.rows | length }}"] }
      next: task
    - step: task
      tool: [ { one: { kind: python, input: { row: "{{ start.rows[1100] }}" }, code: "result = row['id']" } }, { two: { kind: noop, result: "{{ start.rows | length }}" } } ]`)
  expect(found.error).toBeNull()
  expect(found.runs).toEqual(['start', 'read', 'task'])
  expect(found.data('read')).toEqual([1200, true, 1100, 1200])
  expect(found.data('task')).toEqual({ one: 1100, two: 1200 })
  const completed = found.events.find(
    (event) => event.eventType === EVENT.commandCompleted && event.nodeName === 'start',
  )
  expect(completed?.result?.context?.['result']).toMatchObject({
    reference: { kind: 'result_ref', store: expect.any(String) as string, extracted: { count: 1200 } },
  })
  expect(JSON.stringify(completed).length).toBeLessThan(20_000)
})

test('case 110: the artifact tool loads what a reference stands for', async () => {
  const { error, data } = await run(`
    - { step: start, tool: ${LARGE}, next: load }
    - { step: load, tool: { kind: artifact, action: get, input: { result_ref: "{{ start._ref }}" } }, next: read }
    - { step: read, tool: { kind: noop, result: ["{{ load.rows | length }}", "{{ load.rows[7].id }}"] } }`)
  expect(error).toBeNull()
  expect(data('read')).toEqual([1200, 7])
})

test('case 110b: the artifact tool stores what it is given, however small, and its reference leads there', async () => {
  const { error, data, executionId } = await run(`
    - { step: start, tool: { kind: artifact, action: put, input: { data: { n: 41, items: [1, 2] } } }, next: load }
    - { step: load, tool: { kind: artifact, action: get, input: { result_ref: "{{ start._ref }}" } }, next: read }
    - { step: read, tool: { kind: noop, result: ["{{ load.n + 1 }}", "{{ start.items }}", "{{ start._ref }}"] } }`)
  expect(error).toBeNull()
  const ref = expect.stringContaining(`noetl://execution/${executionId}/result/start/`)
  expect(data('read')).toEqual([42, [1, 2], ref])
})

const DIGEST = 'a1'.repeat(32)

test('case 111 (as settled: masked by whole words of the name): all values survive to the next step, only session_token is masked in answers', async () => {
  const { executionId, data } = await run(`
    - { step: start, tool: { kind: python, code: "result = {'session_token': 'tok' + 'en-42', 'author': 'Ada', 'digest': 'a1' * 32}" }, next: read }
    - { step: read, tool: { kind: python, input: { s: "{{ start }}" }, code: "result = [s['session_token'] == 'tok' + 'en-42', s['author'], s['digest']]" } }`)
  expect(data('read')).toEqual([true, 'Ada', DIGEST])
  const { text } = await get(`/api/executions/${executionId}`)
  expect(text).not.toContain('token-42')
  expect(text).toContain('Ada')
  expect(text).toContain(DIGEST)
})

test('case 112: a keychain value reaches the header, and no event or command holds it', async () => {
  const secret = 'hush-hush-4711'
  const stored = await post('/api/credentials', { name: 'api', type: 'generic', data: { key: secret } })
  expect(stored.status).toBe(200)
  const { port } = web.address() as AddressInfo
  const found = await run({
    top: 'keychain: [ { name: api, kind: credential, credential: api } ]',
    steps: `
      - { step: start, tool: { kind: http, url: "http://127.0.0.1:${port}/", headers: { x-key: "{{ keychain.api.key }}" } } }`,
  })
  expect(found.error).toBeNull()
  expect(keys).toEqual([secret])
  expect(JSON.stringify(found.events)).not.toContain(secret)
  expect((await get(`/api/executions/${found.executionId}`)).text).not.toContain(secret)
})

// Whoever runs containers speaks to the control plane as this test does: it parks the command, and calls back later.
test('case 113: a container step stays parked until its callback, and what depends on it starts then', async () => {
  const id = await start(
    `
    - { step: start, tool: { kind: container, image: busybox }, next: after }
    - { step: after, tool: { kind: noop, result: "{{ start.state }}" } }`,
    { pool: 'by-hand' },
  )
  const report = (event_type: string, payload: JsonObject, step = 'start') =>
    post('/api/events', { execution_id: id, step, event_type, payload, status: payload['status'] as Json })
  const [command] = (await look(id)).commands
  const command_id = command?.meta['command_id'] as string
  const parked = await report('command.completed', { command_id, status: 'pending', pending_callback: true })
  expect(parked.status).toBe(200)
  const waiting = await look(id)
  expect({ status: waiting.status, runs: waiting.runs, open: waiting.state.commands.size }).toEqual({
    status: 'RUNNING',
    runs: ['start'],
    open: 1,
  })
  await report('call.done', {
    command_id,
    result: { status: 'success', context: { data: { state: 'succeeded' } } },
  })
  const issued = await seen(
    id,
    (event) => event.eventType === EVENT.commandIssued && event.nodeName === 'after',
  )
  expect(issued.context).toMatchObject({ tool_config: { result: 'succeeded' } })
  await report('command.completed', { result: { status: 'success', context: { data: 1 } } }, 'after')
  expect((await ended(id)).status).toBe('COMPLETED')
})
