import { expect, test } from 'vitest'
import { WrongServer } from '../client/wrong-server.ts'
import { ProblemError } from '../contract/problem.ts'
import { firstContact } from './first-contact.ts'
import { createHandClock, settle } from './test-support.ts'

const away = (): ProblemError =>
  new ProblemError('unavailable', 'No answer from http://box (connection refused)')

/** A server whose answers the test decides; `ending` holds how the contact ended. */
const setUp = (
  meet: (signal: AbortSignal, tries: number) => Promise<string>,
  limitMs: number | null = null,
) => {
  const { clock, advance, timerCount } = createHandClock()
  const interrupt = new AbortController()
  const said: string[] = []
  const startedAt: number[] = []
  const ending: { value: unknown }[] = []
  const contact = firstContact({
    url: 'http://box',
    meet: (signal) => meet(signal, startedAt.push(clock.elapsed())),
    limitMs,
    clock,
    signal: interrupt.signal,
    onAway: ({ message }) => said.push(message),
  })
  const keep = (value: unknown): void => void ending.push({ value })
  void contact.then(keep, keep)
  const pauses = (): number[] => startedAt.slice(1).map((at, index) => at - (startedAt[index] ?? 0))
  return { advance, timerCount, interrupt, said, ending, pauses, tries: () => startedAt.length }
}

test('a server that is there is met at once, and nothing is said', async () => {
  const { ending, said, timerCount } = setUp(() => Promise.resolve('hello'))
  await settle()
  expect(ending).toEqual([{ value: 'hello' }])
  expect(said).toEqual([])
  expect(timerCount()).toBe(0)
})

test('a server that is away is asked again, with pauses that grow to about ten seconds; that is said once (1, 3)', async () => {
  const { advance, ending, said, pauses } = setUp((_signal, tries) =>
    tries <= 12 ? Promise.reject(away()) : Promise.resolve('hello'),
  )
  await advance(120_000)
  expect(ending).toEqual([{ value: 'hello' }])
  expect(said).toEqual(['No answer from http://box (connection refused)'])
  expect(pauses()[0]).toBeLessThanOrEqual(300)
  expect(pauses().at(-1)).toBeGreaterThanOrEqual(8_000)
  expect(Math.max(...pauses())).toBeLessThanOrEqual(12_000)
})

test.each(['unavailable', 'internal', 'too_many_requests'] as const)('%s passes (1)', async (code) => {
  const { advance, ending } = setUp((_signal, tries) =>
    tries === 1 ? Promise.reject(new ProblemError(code, 'not now')) : Promise.resolve('hello'),
  )
  await advance(1_000)
  expect(ending).toEqual([{ value: 'hello' }])
})

test.each([
  new ProblemError('unauthorized', 'no'),
  new ProblemError('forbidden', 'no'),
  new WrongServer('unavailable', 'http://box did not answer with JSON; is it a NoETL server?'),
  new TypeError('a mistake of ours'),
])('%s is thrown at once (2)', async (reason) => {
  const { ending, said, timerCount } = setUp(() => Promise.reject(reason))
  await settle()
  expect(ending).toEqual([{ value: reason }])
  expect(said).toEqual([])
  expect(timerCount()).toBe(0)
})

test('past the limit the newest reason is thrown (1)', async () => {
  const { advance, ending, tries } = setUp(() => Promise.reject(away()), 3_000)
  await advance(2_999)
  expect(ending).toEqual([])
  await advance(1)
  expect(ending).toMatchObject([{ value: { code: 'unavailable' } }])
  expect(tries()).toBeGreaterThan(3)
})

test('without any time to wait there is one try, and nothing is said but its reason (1)', async () => {
  const { ending, said, tries } = setUp(() => Promise.reject(away()), 0)
  await settle()
  expect(ending).toMatchObject([{ value: { code: 'unavailable' } }])
  expect([tries(), said]).toEqual([1, []])
})

test('a host that swallows requests is away, too (1)', async () => {
  const { advance, said, tries } = setUp(
    (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  )
  await advance(10_000)
  expect(said).toEqual(['No answer from http://box (none within 10 s)'])
  await advance(1_000)
  expect(tries()).toBe(2)
})

test('an abort ends the pause and the try under way, and leaves no timer (1)', async () => {
  const pausing = setUp(() => Promise.reject(away()))
  await settle()
  pausing.interrupt.abort()
  await settle()
  expect([pausing.ending, pausing.timerCount()]).toEqual([[{ value: null }], 0])

  const trying = setUp(
    (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  )
  await settle()
  trying.interrupt.abort()
  await settle()
  expect([trying.ending, trying.timerCount()]).toEqual([[{ value: null }], 0])
})
