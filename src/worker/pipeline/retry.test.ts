/** Waiting between tries, and what the log says of them. */
import { expect, test } from 'vitest'

import type { ToolError } from '../../contract/command.ts'
import { toReportEvent } from '../../contract/report.ts'
import { createVault } from '../credentials/test-support.ts'
import { createCommandRunner } from '../run-command.ts'
import { createToolRegistry } from '../tools/registry.ts'
import { retryWaitMs } from './retry-wait.ts'
import {
  always,
  aPipeline,
  createHastyClock,
  error,
  ok,
  runnerOf,
  runTasks,
  scripted,
  toolOf,
  when,
} from './test-support.ts'

const wait = (over: Partial<Parameters<typeof retryWaitMs>[0]>): number =>
  retryWaitMs({ backoff: 'exponential', delayMs: 1000, runs: 1, error: null, random: () => 0, ...over })

const asking = (seconds: number): ToolError => ({
  kind: 'rate_limit',
  code: 'HTTP_429',
  message: '',
  retryable: true,
  retry_after: seconds,
})

test.each([
  ['none', [0, 0, 0]],
  ['fixed', [1000, 1000, 1000]],
  ['linear', [1000, 2000, 3000]],
  ['exponential', [1000, 2000, 4000]],
])('%s backoff grows as it says (rule 1)', (backoff, expected) => {
  expect([1, 2, 3].map((runs) => wait({ backoff, runs }))).toEqual(expected)
})

test('a wait is at most five minutes, unless the other side asks for more (rules 1 and 2)', () => {
  expect(wait({ runs: 30 })).toBe(300_000)
  expect(wait({ error: asking(900) })).toBe(900_000)
  expect(wait({ error: asking(1e9) })).toBe(3_600_000)
  expect(wait({ backoff: 'none', error: asking(2) })).toBe(2000)
  expect(wait({ error: asking(0.1) })).toBe(1000)
})

test('chance adds up to a fifth and takes nothing away (rule 3)', () => {
  expect([0, 0.5, 0.999_999].map((chance) => wait({ random: () => chance }))).toEqual([1000, 1100, 1200])
  expect(wait({ error: asking(10), random: () => 0.5 })).toBe(11_000)
  expect(wait({ backoff: 'none', random: () => 0.5 })).toBe(0)
})

const RETRY = when("{{ output.status == 'error' }}", {
  do: 'retry',
  attempts: 4,
  delay: 1,
  backoff: 'exponential',
})

test('the waits of a pipeline are spread by the chance it is given', async () => {
  const { clock, waits } = createHastyClock()
  const { tool } = scripted('http', [error('a'), error('b'), ok(1)])
  const chances = [0.25, 0.75]
  await runTasks([{ call: { kind: 'http', spec: { policy: { rules: [RETRY] } } } }], {
    tools: [tool],
    clock,
    random: () => chances.shift() ?? 0,
  })
  expect(waits).toEqual([1050, 2300])
})

test('a long wait leaves the slot to others, a short one does not', async () => {
  const { clock, waits } = createHastyClock()
  const { tool } = scripted('http', [error('a'), error('b', { retry_after: 60 }), ok(1)])
  const rule = when('{{ output.error }}', { do: 'retry', attempts: 4, delay: 1, backoff: 'fixed' })
  const tasks = [{ call: { kind: 'http', spec: { policy: { rules: [rule] } } } }]
  const waitedAside: number[] = []
  const result = await runnerOf({ tools: [tool], clock }).run(
    aPipeline(tasks),
    new AbortController().signal,
    (waiting) => {
      waitedAside.push(waits.at(-1) ?? 0)
      return waiting
    },
  )
  expect(result.outcome).toBe('ok')
  expect(waits).toEqual([1000, 60_000])
  expect(waitedAside).toEqual([60_000])
})

test('a result tells the tries that led to it, and the log keeps them', async () => {
  const { clock } = createHastyClock()
  const { tool } = scripted('http', [
    error('busy', { kind: 'rate_limit', code: 'HTTP_429', retry_after: 3 }),
    error('down'),
    ok(1),
  ])
  const result = await runTasks(
    [{ call: { kind: 'http', spec: { policy: { rules: [RETRY] } } } }, { after: { kind: 'noop' } }],
    {
      tools: [tool],
      clock,
    },
  )
  const runs = [
    {
      task: 'call',
      attempt: 1,
      wait_ms: 3000,
      error: { kind: 'rate_limit', code: 'HTTP_429', message: 'busy' },
    },
    { task: 'call', attempt: 2, wait_ms: 2000, error: { kind: 'test', code: 'TEST', message: 'down' } },
  ]
  expect(result).toMatchObject({ outcome: 'ok', tries: { count: 2, runs } })
  const facts = {
    executionId: '1',
    eventId: '2',
    commandId: 'c',
    step: 's',
    workerId: 'w',
    leaseToken: 't',
    attempt: 1,
    durationMs: 1,
  }
  expect(toReportEvent({ ...facts, ...result }).meta).toMatchObject({ attempt: 1, retries: 2, tries: runs })
})

test('a failure after the last try tells them as well; one without any tells nothing', async () => {
  const { clock } = createHastyClock()
  const failing = () => scripted('http', [error('down')]).tool
  const tasks = [{ call: { kind: 'http', spec: { policy: { rules: [RETRY] } } } }]
  const result = await runTasks(tasks, { tools: [failing()], clock })
  expect(result.outcome).toBe('error')
  expect(result.tries?.runs.map(({ attempt, wait_ms }) => [attempt, wait_ms])).toEqual([
    [1, 1000],
    [2, 2000],
    [3, 4000],
  ])
  expect(await runTasks([{ call: { kind: 'http' } }], { tools: [failing()], clock })).not.toHaveProperty(
    'tries',
  )
})

test('of many tries the newest twenty are told, with their number', async () => {
  const { clock } = createHastyClock()
  const { tool } = scripted('http', [error('x'.repeat(5000))])
  const rule = always({ do: 'retry', attempts: 50, delay: 0 })
  const { tries } = await runTasks([{ call: { kind: 'http', spec: { policy: { rules: [rule] } } } }], {
    tools: [tool],
    clock,
  })
  expect([tries?.count, tries?.runs.length, tries?.runs.at(-1)?.attempt]).toEqual([49, 20, 49])
  expect(tries?.runs[0]?.error?.message).toHaveLength(500)
})

test('secrets are hidden in what is told of the tries', async () => {
  const { source } = createVault({ key: { type: 'generic', data: { word: 'open-sesame-1' } } })
  const { clock } = createHastyClock()
  const tool = toolOf('http', ({ config }) => error(`no entry for ${JSON.stringify(config['word'])}`))
  const runner = createCommandRunner({
    tools: createToolRegistry([tool]),
    workerId: 'w',
    clock,
    uuid: () => 'u',
    credentials: source,
  })
  const spec = { policy: { rules: [always({ do: 'retry', attempts: 2, delay: 0 })] } }
  const tasks = [{ call: { kind: 'http', word: '{{ keychain.key.word }}', spec } }]
  const result = await runner.run(aPipeline(tasks), new AbortController().signal)
  expect(result.tries?.runs[0]?.error?.message).toBe('no entry for "[REDACTED]"')
  source.clear()
})
