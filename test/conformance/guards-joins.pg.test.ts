/** Steps that are bypassed, skipped, joined. */
import { expect, test } from 'vitest'
import { useProduct } from '../support/playbook-run.ts'

const { run } = useProduct()

const noop = (name: string, keys = ''): string =>
  `- { step: ${name}, tool: { kind: noop, result: { from: ${name} } }${keys} }`

const expectRuns = async (steps: readonly string[], ...expected: string[]) => {
  const found = await run(steps.join('\n'))
  expect({ status: found.status, runs: found.runs }).toEqual({ status: 'COMPLETED', runs: expected })
  return found
}

test('case 52: a step whose guard is false is bypassed, its arcs are followed, and it has no result', async () => {
  const { skipped, data } = await expectRuns(
    [
      noop('start', ', next: a'),
      noop('a', ', when: "{{ false }}", next: b'),
      '- { step: b, tool: { kind: noop, result: "{{ a is defined }}" } }',
    ],
    'start',
    'b',
  )
  expect(skipped).toEqual(['a guard'])
  expect(data('b')).toBe(false)
})

test('case 53: a bypassed step follows all its inclusive arcs', async () => {
  await expectRuns(
    [
      noop('start', ', next: a'),
      noop(
        'a',
        ', when: "{{ false }}", next: { spec: { mode: inclusive }, arcs: [ { step: b }, { step: c } ] }',
      ),
      noop('b'),
      noop('c'),
    ],
    'start',
    'b',
    'c',
  )
})

test('case 54: a chain of bypasses that reaches end runs end', async () => {
  const { result } = await expectRuns(
    [
      noop('start', ', next: a'),
      noop('a', ', when: "{{ false }}", next: b'),
      noop('b', ', when: "{{ false }}", next: end'),
      noop('end'),
    ],
    'start',
    'end',
  )
  expect(result).toEqual({ from: 'end' })
})

test('case 55: the entry step may be bypassed', async () => {
  const { skipped } = await expectRuns([noop('start', ', when: "{{ false }}", next: b'), noop('b')], 'b')
  expect(skipped).toEqual(['start guard'])
})

test('case 56: a join is entered once, after both branches, and sees both results', async () => {
  const { data, events } = await expectRuns(
    [
      noop('start', ', next: { spec: { mode: inclusive }, arcs: [ { step: a }, { step: b } ] }'),
      `- { step: a, tool: { kind: python, code: "import time; time.sleep(0.2); result = 1" }, next: j }`,
      '- { step: b, tool: { kind: noop, result: 2 }, next: j }',
      '- { step: j, tool: { kind: noop, result: ["{{ a }}", "{{ b }}"] } }',
    ],
    'start',
    'a',
    'b',
    'j',
  )
  expect(data('j')).toEqual([1, 2])
  const places = (type: string) => events.filter((event) => event.eventType === type)
  const entered = places('step.enter').find((event) => event.nodeName === 'j')?.position ?? 0
  const exits = places('step.exit').filter((event) => ['a', 'b'].includes(event.nodeName ?? ''))
  expect(exits.every((event) => event.position < entered)).toBe(true)
})

test.each([
  ['a', ['start', 'a', 'c', 'j'], ['b dead_path', 'd dead_path']],
  ['b', ['start', 'b', 'd', 'j'], ['a dead_path', 'c dead_path']],
])(
  'case 57: after an exclusive split the common successor runs on branch %s',
  async (taken, expected, dead) => {
    const { skipped } = await expectRuns(
      [
        noop('start', `, next: { arcs: [ { step: a, when: "{{ '${taken}' == 'a' }}" }, { step: b } ] }`),
        noop('a', ', next: c'),
        noop('b', ', next: d'),
        noop('c', ', next: j'),
        noop('d', ', next: j'),
        noop('j'),
      ],
      ...expected,
    )
    expect([...skipped].sort()).toEqual(dead)
  },
)

test('case 58: an early exit that was not taken runs later, once', async () => {
  await expectRuns(
    [
      noop('start', ', next: { arcs: [ { step: work }, { step: end } ] }'),
      noop('work', ', next: end'),
      noop('end'),
    ],
    'start',
    'work',
    'end',
  )
})

test('case 59: a handler that three steps may reach runs when the third takes it', async () => {
  const next = (step: string): string =>
    `, next: { arcs: [ { step: handler, when: "{{ output.status == 'error' }}" }, { step: ${step} } ] }`
  await expectRuns(
    [
      noop('start', next('two')),
      noop('two', next('three')),
      `- { step: three, tool: { kind: python, code: "raise ValueError('third')" }${next('four')} }`,
      noop('four'),
      '- { step: handler, tool: { kind: noop } }',
    ],
    'start',
    'two',
    'three',
    'handler',
  )
})

test('case 60: an orphan that points at a step does not hold it up', async () => {
  await expectRuns([noop('start', ', next: a'), noop('orphan', ', next: a'), noop('a')], 'start', 'a')
})

test('case 61: a branch that ends early does not end the execution', async () => {
  await expectRuns(
    [
      noop('start', ', next: { spec: { mode: inclusive }, arcs: [ { step: a }, { step: b } ] }'),
      noop('a'),
      `- { step: b, tool: { kind: python, code: "import time; time.sleep(0.1); result = 1" }, next: c }`,
      noop('c', ', next: d'),
      noop('d'),
    ],
    'start',
    'a',
    'b',
    'c',
    'd',
  )
})
