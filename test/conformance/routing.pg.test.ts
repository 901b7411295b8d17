/** Where an execution goes after a step, and what it writes on the way. */
import { expect, test } from 'vitest'
import { useProduct } from '../support/playbook-run.ts'

const { run } = useProduct()

const B = '- { step: b, tool: { kind: noop } }'
const BC = `${B}\n    - { step: c, tool: { kind: noop } }`
const BCD = `${BC}\n    - { step: d, tool: { kind: noop } }`

test.each(['b', '[b]', '[ { step: b } ]', '{ arcs: [ { step: b } ] }', '{ step: b }'])(
  'case 37: next %s leads to b',
  async (next) => {
    const { status, runs } = await run(`
    - { step: start, tool: { kind: noop }, next: ${next} }
    ${B}`)
    expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'b'] })
  },
)

test('case 38: a list of names runs them all', async () => {
  const { status, runs } = await run(`
    - { step: start, tool: { kind: noop }, next: [b, c] }
    ${BC}`)
  expect({ status, runs }).toEqual({ status: 'COMPLETED', runs: ['start', 'b', 'c'] })
})

test('case 39: an exclusive router takes the first true guard and skips the other target', async () => {
  const { status, runs, skipped } = await run(`
    - { step: start, tool: { kind: noop }, next: { arcs: [ { step: b, when: "{{ true }}" }, { step: c, when: "{{ true }}" } ] } }
    ${BC}`)
  expect({ status, runs, skipped }).toEqual({
    status: 'COMPLETED',
    runs: ['start', 'b'],
    skipped: ['c dead_path'],
  })
})

const THREE =
  '[ { step: b, when: "{{ true }}" }, { step: c, when: "{{ false }}" }, { step: d, when: "{{ true }}" } ]'

test.each([
  ['case 40: an inclusive router', `next: { spec: { mode: inclusive }, arcs: ${THREE} }`],
  [
    'case 41: a list of targets with spec.next_mode inclusive',
    `spec: { next_mode: inclusive }, next: ${THREE}`,
  ],
  [
    'case 42: a router without a mode under spec.next_mode inclusive',
    `spec: { next_mode: inclusive }, next: { arcs: ${THREE} }`,
  ],
])('%s runs every target whose guard is true and skips the rest', async (_, keys) => {
  const { status, runs, skipped } = await run(`
    - { step: start, tool: { kind: noop }, ${keys} }
    ${BCD}`)
  expect({ status, runs, skipped }).toEqual({
    status: 'COMPLETED',
    runs: ['start', 'b', 'd'],
    skipped: ['c dead_path'],
  })
})

test('case 43: the data of the step has the same value under each of its names', async () => {
  const names = [
    'start.n',
    'start.data.n',
    'output.n',
    'output.data.n',
    'steps.start.context.result.context.data.n',
  ]
  const arcs = names.map((name, index) => `{ step: s${index}, when: "{{ ${name} == 42 }}" }`).join(', ')
  const { runs } = await run(
    [
      `- { step: start, tool: { kind: python, code: "result = {'n': 42}" }, next: { spec: { mode: inclusive }, arcs: [ ${arcs} ] } }`,
      ...names.map((_, index) => `- { step: s${index} }`),
    ].join('\n'),
  )
  expect(runs).toEqual(['start', 's0', 's1', 's2', 's3', 's4'])
})

test('case 44: when no guard is true the branch ends and the execution completes', async () => {
  const { status, runs, skipped } = await run(`
    - { step: start, tool: { kind: noop }, next: { arcs: [ { step: b, when: "{{ false }}" } ] } }
    ${B}`)
  expect({ status, runs, skipped }).toEqual({
    status: 'COMPLETED',
    runs: ['start'],
    skipped: ['b dead_path'],
  })
})

test('case 45: with no_next_is_error, no true guard fails the execution', async () => {
  const { status, error } = await run({
    top: 'executor: { spec: { no_next_is_error: true } }',
    steps: `
      - { step: start, tool: { kind: noop }, next: { arcs: [ { step: b, when: "{{ false }}" } ] } }
      - { step: b, tool: { kind: noop } }`,
  })
  expect(status).toBe('FAILED')
  expect(error).toContain("No arc of step 'start' matched")
})

test('case 46: two arcs to the same target run it once when the first is true and the second false', async () => {
  const { status, runs, skipped } = await run(`
    - { step: start, tool: { kind: noop }, next: { spec: { mode: inclusive }, arcs: [ { step: b, when: "{{ true }}" }, { step: b, when: "{{ false }}" } ] } }
    ${B}`)
  expect({ status, runs, skipped }).toEqual({ status: 'COMPLETED', runs: ['start', 'b'], skipped: [] })
})

test('case 47: the set of an arc stays for the next step and the one after it', async () => {
  const read = 'tool: { kind: noop, result: ["{{ ctx.k }}", "{{ k }}", "{{ bare }}"] }'
  const { data } = await run(`
    - { step: start, tool: { kind: noop, result: { n: 7 } }, next: { arcs: [ { step: b, set: { ctx.k: "{{ start.n }}", bare: 2 } } ] } }
    - { step: b, ${read}, next: c }
    - { step: c, ${read} }`)
  expect(data('b')).toEqual([7, 7, 2])
  expect(data('c')).toEqual([7, 7, 2])
})

test('case 48: the set of a step renders all its values against one snapshot', async () => {
  const { data } = await run({
    top: 'workload: { a: 1 }',
    steps: `
      - { step: start, tool: { kind: noop }, set: { a: "{{ a | int + 1 }}", b: "{{ a }}" }, next: read }
      - { step: read, tool: { kind: noop, result: ["{{ a }}", "{{ b }}"] } }`,
  })
  expect(data('read')).toEqual([2, 1])
})

test('case 49: guards see the set of their step and not the set of a sibling arc', async () => {
  const { runs } = await run(`
    - step: start
      tool: { kind: noop }
      set: { ctx.mine: 1 }
      next:
        spec: { mode: inclusive }
        arcs:
          - { step: b, when: "{{ ctx.mine == 1 }}", set: { ctx.sibling: 1 } }
          - { step: c, when: "{{ ctx.sibling is defined }}" }
          - { step: d, when: "{{ ctx.sibling is undefined }}" }
    ${BCD}`)
  expect(runs).toEqual(['start', 'b', 'd'])
})

test('case 50: the args of a legacy target are rendered for the next step', async () => {
  const { data } = await run(`
    - { step: start, tool: { kind: noop, result: { n: 7 } }, next: [ { step: b, args: { k: "{{ start.n }}" } } ] }
    - { step: b, tool: { kind: noop, result: "{{ k }}" } }`)
  expect(data('b')).toBe(7)
})

test('case 51: the event of a plain step is call.done, also called step.done, and not loop.done', async () => {
  const arcs = ['call.done', 'step.done', 'loop.done'].map(
    (name, index) => `{ step: ${'bcd'[index]}, when: "{{ event.name == '${name}' }}" }`,
  )
  const { runs, skipped } = await run(`
    - { step: start, tool: { kind: noop }, next: { spec: { mode: inclusive }, arcs: [ ${arcs.join(', ')} ] } }
    ${BCD}`)
  expect(runs).toEqual(['start', 'b', 'c'])
  expect(skipped).toEqual(['d dead_path'])
})
