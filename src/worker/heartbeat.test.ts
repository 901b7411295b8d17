/** Heartbeats that wait at the server. What all heartbeats promise is tested with the worker. */
import { describe, expect, test } from 'vitest'
import type { ControlPlane, HeartbeatStatus } from '../contract/command.ts'
import { ProblemError } from '../contract/problem.ts'
import { isDismissal } from './dismissal.ts'
import { createHeartbeat } from './heartbeat.ts'
import { type HeldCommand, holdCommand } from './held-command.ts'
import { silentLog } from './log.ts'
import { aCommand, createHandClock, settle } from './test-support.ts'

interface Call {
  readonly at: number
  readonly steps: readonly string[]
  readonly waitMs: number | undefined
  readonly isAborted: () => boolean
  answer(statuses: readonly HeartbeatStatus[]): void
  fail(error: Error): void
}

const setUp = () => {
  const { clock, advance, timerCount } = createHandClock()
  const held = new Map<string, HeldCommand>()
  const calls: Call[] = []
  const gone: string[] = []
  const stepOf = new Map<string, string>()
  const start = clock.elapsed()
  const heartbeatOf: ControlPlane['heartbeat'] = ({ leases, waitMs, signal }) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('aborted')))
      calls.push({
        at: clock.elapsed() - start,
        steps: leases.map(({ eventId }) => stepOf.get(eventId) ?? ''),
        waitMs,
        isAborted: () => signal?.aborted ?? false,
        answer: resolve,
        fail: reject,
      })
    })
  const heartbeat = createHeartbeat({
    controlPlane: { heartbeat: heartbeatOf },
    workerId: 'w',
    clock,
    log: silentLog,
    held,
    waits: true,
    isFinal: isDismissal,
    onGone(entry, status) {
      gone.push(`${entry.command.step} ${status}`)
      entry.abandoned = true
      held.delete(entry.key)
    },
  })
  const take = (step: string): HeldCommand => {
    const entry = holdCommand(aCommand({ step }), false, clock.elapsed())
    stepOf.set(entry.command.eventId, step)
    held.set(entry.key, entry)
    heartbeat.ensure()
    return entry
  }
  const call = (nth: number): Call => {
    const found = calls[nth]
    if (!found) throw new Error(`there was no call ${nth}`)
    return found
  }
  const times = (): number[] => calls.map(({ at }) => at)
  return { heartbeat, held, calls, call, times, gone, take, advance, timerCount }
}

describe('a heartbeat that waits', () => {
  test('begins once a command has been held for a second, and is followed by the next one when it is over (4)', async () => {
    const { take, call, times, advance } = setUp()
    take('a')
    await advance(1_000)
    expect(call(0)).toMatchObject({ at: 1_000, steps: ['a'], waitMs: 5_000 })
    await advance(5_000)
    call(0).answer(['ok'])
    await advance(0)
    expect(times()).toEqual([1_000, 6_000])
  })

  test('is not made for commands that are over sooner (4)', async () => {
    const { take, held, calls, advance, timerCount } = setUp()
    held.delete(take('a').key)
    await advance(10_000)
    expect([calls.length, timerCount()]).toEqual([0, 0])
  })

  test('brings a cancel at once, and goes on waiting for the others (3, 4)', async () => {
    const { take, call, times, gone, advance } = setUp()
    take('a')
    take('b')
    await advance(1_500)
    call(0).answer(['cancelled', 'ok'])
    await advance(0)
    expect(gone).toEqual(['a cancelled'])
    expect(times()).toEqual([1_000, 1_500])
    expect(call(1).steps).toEqual(['b'])
  })

  test('that is answered without having waited is not repeated before its time (4)', async () => {
    const { take, call, times, advance } = setUp()
    take('a')
    await advance(1_000)
    call(0).answer(['ok'])
    await advance(4_999)
    expect(times()).toEqual([1_000])
    await advance(1)
    expect(times()).toEqual([1_000, 6_000])
  })

  test('is begun anew for a command that came meanwhile, once that has been held for a second (4)', async () => {
    const { take, held, call, times, advance } = setUp()
    take('a')
    await advance(1_000)
    // Over before it is worth a call.
    const short = take('short')
    await advance(600)
    held.delete(short.key)
    take('b')
    await advance(999)
    expect(times()).toEqual([1_000])
    await advance(1)
    expect(call(0).isAborted()).toBe(true)
    expect(call(1)).toMatchObject({ at: 2_600, steps: ['a', 'b'] })
  })

  test('is not made more often by a stream of short commands (4)', async () => {
    const { take, held, call, times, advance } = setUp()
    take('long')
    await advance(1_000)
    for (let nth = 0; nth < 50; nth += 1) {
      const short = take(`short ${nth}`)
      await advance(100)
      held.delete(short.key)
    }
    expect(times()).toEqual([1_000])
    call(0).answer(['ok'])
    await advance(0)
    expect(times()).toEqual([1_000, 6_000])
  })

  test('is begun anew when somebody wants to know now, and ends with stop', async () => {
    const { heartbeat, take, call, times, advance, timerCount } = setUp()
    take('a')
    await advance(1_500)
    heartbeat.now()
    await advance(0)
    expect(times()).toEqual([1_000, 1_500])
    heartbeat.stop()
    await settle()
    expect([call(1).isAborted(), timerCount()]).toEqual([true, 0])
  })

  test('is repeated soon when it fails, and never after a refusal that is final (2)', async () => {
    const { take, call, times, advance, timerCount } = setUp()
    take('a')
    await advance(1_000)
    call(0).fail(new ProblemError('unavailable', 'away'))
    await advance(400)
    expect(times()).toHaveLength(2)
    call(1).fail(new ProblemError('unauthorized', 'revoked'))
    await advance(60_000)
    expect([times().length, timerCount()]).toEqual([2, 0])
  })
})
