import { describe, expect, test } from 'vitest'
import type { CommandOutput } from '../contract/output.ts'
import { ProblemError } from '../contract/problem.ts'
import { silentLog } from './log.ts'
import { createOutputSender } from './output-sender.ts'
import { aCommand, createHandClock, settle } from './test-support.ts'

const setUp = () => {
  const calls: (readonly CommandOutput[])[] = []
  const failures: Error[] = []
  const time = createHandClock()
  const sender = createOutputSender({
    controlPlane: {
      output: ({ outputs }) => {
        const failure = failures.shift()
        if (failure) return Promise.reject(failure)
        calls.push(outputs)
        return Promise.resolve()
      },
    },
    workerId: 'w',
    clock: time.clock,
    log: silentLog,
  })
  return { calls, failures, time, sender }
}

const shown = (calls: readonly (readonly CommandOutput[])[]) =>
  calls
    .flat()
    .flatMap(({ eventId, parts }) => parts.map((each) => [eventId, each.part, each.stream, each.text]))

describe('pieces are gathered for a moment and sent together (rule 1)', () => {
  test('of one stream in one piece, of all commands in one call', async () => {
    const { calls, time, sender } = setUp()
    const [a, b] = [aCommand({ eventId: '1' }), aCommand({ eventId: '2' })]
    sender.write(a, 'stdout', 'one ')
    sender.write(a, 'stdout', 'two')
    sender.write(a, 'stderr', 'oops')
    sender.write(b, 'stdout', 'other')
    expect(calls).toEqual([])
    await time.advance(200)
    expect(calls.length).toBe(1)
    expect(shown(calls)).toEqual([
      ['1', 1, 'stdout', 'one two'],
      ['1', 2, 'stderr', 'oops'],
      ['2', 1, 'stdout', 'other'],
    ])
    sender.write(a, 'stdout', 'later')
    await time.advance(200)
    expect(shown(calls).at(-1)).toEqual(['1', 3, 'stdout', 'later'])
  })
})

describe('what a command printed is sent before its result (rule 2)', () => {
  test('a command that printed nothing waits for nothing', () => {
    expect(setUp().sender.finish(aCommand())).toBeUndefined()
  })

  test('one that printed waits for the last piece', async () => {
    const { calls, sender } = setUp()
    const command = aCommand({ eventId: '1' })
    sender.write(command, 'stdout', 'last words')
    await sender.finish(command)
    expect(shown(calls)).toEqual([['1', 1, 'stdout', 'last words']])
    expect(sender.finish(command)).toBeUndefined()
  })
})

describe('output is worth less than work (rule 3)', () => {
  test('a failed call is tried again with the same pieces, then given up', async () => {
    const { calls, failures, time, sender } = setUp()
    const command = aCommand({ eventId: '1' })
    failures.push(new Error('away'), new Error('away'))
    sender.write(command, 'stdout', 'kept')
    await time.advance(200)
    await time.advance(60_000)
    await time.advance(60_000)
    expect(shown(calls)).toEqual([['1', 1, 'stdout', 'kept']])
    failures.push(new Error('away'), new Error('away'), new Error('away'))
    sender.write(command, 'stdout', 'lost')
    for (let step = 0; step < 5; step += 1) await time.advance(60_000)
    sender.write(command, 'stdout', 'next')
    await time.advance(200)
    await settle()
    expect(shown(calls).at(-1)).toEqual(['1', 3, 'stdout', 'next'])
  })

  test('a command that prints without end is cut, and says so', async () => {
    const { calls, time, sender } = setUp()
    const command = aCommand({ eventId: '1' })
    for (let times = 0; times < 40; times += 1) sender.write(command, 'stdout', 'x'.repeat(50_000))
    await time.advance(200)
    const parts = calls.flat().flatMap((output) => output.parts)
    const kept = parts
      .filter(({ stream }) => stream === 'stdout')
      .reduce((sum, { text }) => sum + text.length, 0)
    expect(kept).toBe(1024 * 1024)
    expect(parts.at(-1)?.text).toContain('not kept')
    expect(parts.every(({ text }) => text.length <= 32 * 1024)).toBe(true)
  })
})

describe('while the control plane is away everything is kept (rule 4)', () => {
  const away = (times: number): Error[] =>
    Array.from({ length: times }, () => new ProblemError('unavailable', 'No answer'))

  test('and is sent when it is back, before the result', async () => {
    const { calls, failures, time, sender } = setUp()
    const command = aCommand({ eventId: '1' })
    failures.push(...away(1000))
    sender.write(command, 'stdout', 'one ')
    await time.advance(200)
    sender.write(command, 'stdout', 'two')
    let isFinished = false
    void sender.finish(command)?.then(() => {
      isFinished = true
    })
    for (let step = 0; step < 7; step += 1) await time.advance(12_000)
    expect([calls, isFinished]).toEqual([[], false])
    failures.length = 0
    await time.advance(12_000)
    await settle()
    expect(shown(calls)).toEqual([
      ['1', 1, 'stdout', 'one '],
      ['1', 2, 'stdout', 'two'],
    ])
    expect(isFinished).toBe(true)
  })

  test('until nobody waits any more', async () => {
    const { calls, failures, time, sender } = setUp()
    const command = aCommand({ eventId: '1' })
    failures.push(...away(100))
    sender.write(command, 'stdout', 'unheard')
    const finished = sender.finish(command)
    sender.giveUp()
    await time.advance(12_000)
    await finished
    await time.advance(60_000)
    expect(calls).toEqual([])
    expect(failures.length).toBeGreaterThan(90)
  })
})
