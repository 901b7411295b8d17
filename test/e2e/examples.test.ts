/**
 * The first examples as a user runs them: by the command, against a server of its own. The others are run in test/examples.
 */
import { globSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { documentedAnswer } from '../examples/documented-answers.ts'
import type { Server } from './noetl-process.ts'
import { noetl, REPOSITORY, startServer, temporaryDirectory } from './noetl-process.ts'

let server: Server

beforeAll(async () => {
  server = await startServer(temporaryDirectory(), ['--no-examples'])
})

interface Answer {
  readonly status: string
  readonly result: unknown
  readonly steps: readonly { readonly step: string; readonly status: string }[]
}

const run = async (example: string, flags: readonly string[]): Promise<Answer> => {
  const finished = await noetl([
    'run',
    `examples/${example}.yaml`,
    '--json',
    '--server',
    server.url,
    ...flags,
  ])
  expect(finished).toMatchObject({ exitCode: 0, stderr: '' })
  return JSON.parse(finished.stdout) as Answer
}

const CASES: readonly (readonly [example: string, flags: readonly string[], result: unknown])[] = [
  ['hello', [], 'Hello, world!'],
  ['hello', ['--set', 'name=Ada'], 'Hello, Ada!'],
  ['branch', [], 'order A-17 accepted'],
  ['branch', ['--set', 'order.total=1500'], 'order A-17 waits for a review'],
  ['branch', ['--set', 'order.total=0'], 'order A-17 rejected'],
  ['fan-out-join', [], { pay: 3700, tax: 800, bonus: 500 }],
  ['fan-out-join', ['--set', 'with_bonus=false'], { pay: 3200, tax: 800, bonus: 0 }],
  ['loop', [], { texts: 4, words: 32, longest: 'glitters' }],
  ['loop', ['--set', 'texts=["one", "two two", "three"]'], { texts: 3, words: 4, longest: 'three' }],
  ['error-handling', [], { paid: false, reason: 'ValueError: 250 is more than the balance of 100' }],
  ['error-handling', ['--set', 'amount=80'], { paid: true, left: 20 }],
  ['invoice', [], 'invoice for order 1: 119'],
  ['invoices', [], { orders: [1, 2], tax: 29, failed: 1 }],
  ['counter-cycle', [], { value: 32, rounds: 5 }],
  ['counter-cycle', ['--set', 'goal=100'], { value: 128, rounds: 7 }],
]

describe('examples', () => {
  test.each(CASES)('%s %j gives %j', async (example, flags, result) => {
    expect(await run(example, flags)).toMatchObject({ status: 'COMPLETED', result })
  })

  test('a join waits for every branch that was taken and runs once', async () => {
    const { steps } = await run('fan-out-join', [])
    expect(steps.filter(({ step }) => step === 'total')).toHaveLength(1)
    expect(steps.at(-1)).toMatchObject({ step: 'total', status: 'completed' })
  })

  test('a dealt-with failure is told apart from a success', async () => {
    const { steps } = await run('error-handling', [])
    expect(steps[0]).toMatchObject({ step: 'start', status: 'handled' })
  })

  test.each(CASES.filter(([, flags]) => flags.length === 0))(
    '%s is described as it is',
    (example, _flags, result) => {
      expect(documentedAnswer(example)).toEqual(result)
    },
  )

  test('all are valid, without warnings, however many files are checked at once', async () => {
    const files = globSync('examples/*.yaml', { cwd: REPOSITORY })
    const { exitCode, stdout, stderr } = await noetl(['validate', ...files, '--json'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).not.toContain('warning')
  })
})
