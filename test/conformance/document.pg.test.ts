/** What a playbook document may say, through the register and execute routes. */
import { expect, test } from 'vitest'
import { terminalStatusOf } from '../../src/contract/event.ts'
import { insertCatalogEntry } from '../../src/store/catalog.ts'
import { playbookText, useProduct } from '../support/playbook-run.ts'

const product = useProduct()
const { get, post, refusal, run, warnings } = product

const MINIMAL = playbookText({
  path: 'conformance/minimal',
  steps: '- { step: start, tool: { kind: noop } }',
})

const expectRefused = async (steps: string, ...codes: string[]): Promise<void> => {
  const { status, codes: found } = await refusal(steps)
  expect({ status, codes: found }).toEqual({ status: 422, codes })
}

test('case 1: the minimal playbook completes with one step and one terminal event', async () => {
  const { status, runs, events } = await run(MINIMAL)
  expect(status).toBe('COMPLETED')
  expect(runs).toEqual(['start'])
  expect(events.filter((event) => terminalStatusOf(event.eventType) !== null)).toHaveLength(1)
})

test('case 2: another apiVersion is refused with API_VERSION, and nothing can be executed', async () => {
  const text = MINIMAL.replace('noetl.io/v2', 'noetl.io/v1').replace('minimal', 'other-version')
  const { status, codes } = await refusal(text)
  expect({ status, codes }).toEqual({ status: 422, codes: ['API_VERSION'] })
  expect((await post('/api/execute', { path: 'conformance/other-version' })).status).toBe(404)
  expect((await get('/api/executions?path=other-version')).body).toEqual([])
})

test('case 3: another kind is refused with KIND', async () => {
  const { status, codes } = await refusal(MINIMAL.replace('kind: Playbook', 'kind: Workflow'))
  expect({ status, codes }).toEqual({ status: 422, codes: ['KIND'] })
})

test('case 4: a workflow without start and without entry_step is refused with NO_START', async () => {
  await expectRefused('- { step: begin, tool: { kind: noop } }', 'NO_START')
  const entry = await run({
    top: 'executor: { spec: { entry_step: begin } }',
    steps: '- { step: begin, tool: { kind: noop } }',
  })
  expect(entry.runs).toEqual(['begin'])
})

test('case 5: two steps of one name are refused with DUPLICATE_STEP', async () => {
  await expectRefused(
    `
    - { step: start, next: a }
    - { step: a }
    - { step: a }`,
    'DUPLICATE_STEP',
  )
})

test('case 6 (as settled: a tool is optional): a step without a tool is a pure router', async () => {
  const { status, runs, commands } = await run(`
    - { step: start, tool: { kind: noop }, next: middle }
    - { step: middle, next: last }
    - { step: last, tool: { kind: noop } }`)
  expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'middle', 'last'] })
  expect(commands.map((event) => event.nodeName)).toEqual(['start', 'last'])
})

test('case 7: a step with case is refused with CASE_NOT_ALLOWED before everything else', async () => {
  const { status, problems } = await refusal(`
    - { step: start, tool: [] }
    - { step: a, case: [x], tool: { kind: noop } }`)
  expect(status).toBe(422)
  expect(problems[0]).toMatchObject({
    code: 'CASE_NOT_ALLOWED',
    message: expect.stringContaining("'a'") as string,
  })
  expect(problems.map(({ code }) => code)).toContain('PIPELINE_EMPTY')
})

test('case 8: an arc to a step that does not exist is refused with NEXT_UNKNOWN, end included', async () => {
  await expectRefused('- { step: start, tool: { kind: noop }, next: nowhere }', 'NEXT_UNKNOWN')
  await expectRefused('- { step: start, tool: { kind: noop }, next: end }', 'NEXT_UNKNOWN')
})

test('case 9: an empty pipeline is refused with PIPELINE_EMPTY', async () => {
  await expectRefused('- { step: start, tool: [] }', 'PIPELINE_EMPTY')
})

test('case 10: a pipeline item with two labels is refused with PIPELINE_ITEM_SHAPE', async () => {
  await expectRefused(
    '- { step: start, tool: [ { a: { kind: noop }, b: { kind: noop } } ] }',
    'PIPELINE_ITEM_SHAPE',
  )
})

test('case 11: an unknown tool kind is refused with the known ones', async () => {
  const { status, problems } = await refusal('- { step: start, tool: { kind: foo } }')
  expect(status).toBe(422)
  expect(problems).toHaveLength(1)
  expect(problems[0]?.message).toMatch(/foo.*http, postgres, .*python/s)
})

test('case 12: a loop without what its mode needs is refused, and so is an unknown mode', async () => {
  const loop = (keys: string): string => `- { step: start, tool: { kind: noop }, loop: ${keys} }`
  await expectRefused(loop('{ iterator: x }'), 'LOOP_IN_REQUIRED')
  await expectRefused(loop('{ iterator: x, spec: { mode: cursor } }'), 'LOOP_CURSOR')
  const { status, text } = await refusal(loop('{ in: [1], iterator: x, spec: { mode: zigzag } }'))
  expect(status).toBe(422)
  expect(text).toContain('zigzag')
})

test('case 13: an empty guard and one with a syntax error are refused with STEP_WHEN and the place', async () => {
  await expectRefused('- { step: start, tool: { kind: noop }, when: "" }', 'STEP_WHEN')
  const { status, problems } = await refusal('- { step: start, tool: { kind: noop }, when: "{{ a + }}" }')
  expect(status).toBe(422)
  expect(problems[0]).toMatchObject({ code: 'STEP_WHEN', line: 5 })
  expect(problems[0]?.column).toBeGreaterThan('  - { step: start, tool: { kind: noop }, when: "'.length)
})

test('case 14: unknown keys are accepted with warnings and are no variables', async () => {
  const playbook = {
    top: 'tests: [1, 2]',
    steps: `
      - step: start
        foo: 1
        tool: { kind: noop, result: "{{ tests is defined }}" }
        next: { arcs: [ { step: b, cond: "{{ false }}" } ] }
      - { step: b, tool: { kind: noop } }`,
  }
  expect((await warnings(playbook)).filter((code) => code === 'unknown-key')).toHaveLength(3)
  const { runs, data } = await run(playbook)
  expect(data('start')).toBe(false)
  expect(runs).toEqual(['start', 'b'])
})

test('case 15: a key given twice is refused at any depth', async () => {
  const top = await refusal(`${MINIMAL}kind: Playbook\n`)
  expect(top.status).toBeGreaterThanOrEqual(400)
  expect(top.codes).toEqual(['DUPLICATE_KEY'])
  const deep = await refusal({
    top: 'workload: { a: { b: 1, c: [ { d: 1, d: 2 } ] } }',
    steps: '- { step: start, tool: { kind: noop } }',
  })
  expect(deep.codes).toEqual(['DUPLICATE_KEY'])
})

test('case 16: next with a step and no arcs is one arc; with neither it is refused', async () => {
  const { status, runs } = await run(`
    - { step: start, tool: { kind: noop }, next: { step: b } }
    - { step: b, tool: { kind: noop } }`)
  expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'b'] })
  await expectRefused(
    '- { step: start, tool: { kind: noop }, next: { spec: { mode: inclusive } } }',
    'NEXT_ARCS',
  )
})

test('case 17: flat items and labels as keys give identical results', async () => {
  const flat = await run(`
    - step: start
      tool:
        - { name: a, kind: noop, result: { x: 1 } }
        - { name: b, kind: noop, result: { y: "{{ a.x + 1 }}" } }`)
  const labelled = await run(`
    - step: start
      tool:
        - a: { kind: noop, result: { x: 1 } }
        - b: { kind: noop, result: { y: "{{ a.x + 1 }}" } }`)
  expect(flat.data('start')).toEqual({ a: { x: 1 }, b: { y: 2 } })
  expect(labelled.data('start')).toEqual(flat.data('start'))
  expect(labelled.result).toEqual(flat.result)
})

test('case 18: a broken playbook is refused at registration with the errors that execute would give', async () => {
  const broken = playbookText({
    path: 'conformance/broken',
    steps: `
      - { step: start, tool: [], next: nowhere }
      - { step: start, tool: { kind: noop }, when: "{{ a + }}" }`,
  })
  const registration = await refusal(broken)
  expect(registration.status).toBe(422)
  expect(registration.codes).toEqual(
    expect.arrayContaining(['DUPLICATE_STEP', 'PIPELINE_EMPTY', 'NEXT_UNKNOWN', 'STEP_WHEN']),
  )
  // An entry from before playbooks were checked at registration.
  const { core } = product.stack()
  await insertCatalogEntry(core.shards.cluster, {
    catalogId: core.nextId(),
    path: 'conformance/broken',
    kind: 'playbook',
    content: broken,
    layout: null,
    payload: null,
    meta: null,
  })
  const execution = await post('/api/execute', { path: 'conformance/broken' })
  expect(execution.status).toBe(422)
  const { problems } = execution.body['details'] as unknown as { problems: { severity: string }[] }
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual(registration.problems)
  expect((await get('/api/executions?path=conformance/broken')).body).toEqual([])
})
