import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Carrier, CarrierEvents } from './broadcast.ts'
import { createBroadcastDispatcher } from './broadcast.ts'
import { decodeMessage, encodeMessage } from './message.ts'

/** A carrier that keeps what is sent and can be told what to do. */
const createScriptedCarrier = ({ maxBytes = 8000 } = {}) => {
  const sent: string[] = []
  const waiting: { resolve(): void; reject(error: Error): void }[] = []
  let events: CarrierEvents | null = null
  let holding = false
  const carrier: Carrier = {
    maxBytes,
    send: (text) => {
      sent.push(text)
      if (!holding) return Promise.resolve()
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    close: () => Promise.resolve(),
  }
  return {
    open: (given: CarrierEvents): Carrier => {
      events = given
      return carrier
    },
    sent: () => sent.splice(0).map((text) => decodeMessage(text)),
    hold: () => void (holding = true),
    letGo: (how: 'resolve' | 'reject') => {
      holding = false
      for (const each of waiting.splice(0))
        if (how === 'resolve') each.resolve()
        else each.reject(new Error('lost'))
    },
    events: () => events as CarrierEvents,
  }
}

/** A dispatcher that has found its carrier and has nothing to send, on a clock that the test moves. */
const aConnected = async (options?: Parameters<typeof createBroadcastDispatcher>[1]) => {
  vi.useFakeTimers()
  const carrier = createScriptedCarrier()
  const dispatcher = createBroadcastDispatcher(carrier.open, options)
  carrier.events().connected()
  await vi.advanceTimersByTimeAsync(100)
  expect(carrier.sent()).toEqual([])
  return { carrier, dispatcher }
}

afterEach(() => void vi.useRealTimers())

describe('a dispatcher over a carrier', () => {
  test('gathers what happens within a few milliseconds into one message (1)', async () => {
    const { carrier, dispatcher } = await aConnected()
    for (let n = 0; n < 1000; n += 1) {
      dispatcher.notify(`pool-${n % 3}`)
      dispatcher.changed('1', 1000 - n)
    }
    await vi.advanceTimersByTimeAsync(100)
    expect(carrier.sent()).toMatchObject([
      { pools: ['pool-0', 'pool-1', 'pool-2'], changes: new Map([['1', 1]]), gap: false },
    ])
  })

  test('has one message on its way at a time; what happens meanwhile goes into the next (2)', async () => {
    const { carrier, dispatcher } = await aConnected()
    carrier.hold()
    dispatcher.notify('a')
    await vi.advanceTimersByTimeAsync(100)
    dispatcher.notify('b')
    await vi.advanceTimersByTimeAsync(100)
    dispatcher.notify('c')
    expect(carrier.sent()).toMatchObject([{ pools: ['a'] }])
    carrier.letGo('resolve')
    await vi.advanceTimersByTimeAsync(100)
    expect(carrier.sent()).toMatchObject([{ pools: ['b', 'c'] }])
  })

  test('tells of a gap when a message could not be sent, and when the carrier is back (2)', async () => {
    const { carrier, dispatcher } = await aConnected()
    carrier.hold()
    dispatcher.notify('a')
    await vi.advanceTimersByTimeAsync(100)
    carrier.sent()
    carrier.letGo('reject')
    await vi.advanceTimersByTimeAsync(100)
    expect(carrier.sent()).toMatchObject([{ pools: [], gap: true }])
    carrier.events().disconnected()
    dispatcher.notify('b')
    await vi.advanceTimersByTimeAsync(100)
    expect(carrier.sent()).toEqual([])
    carrier.events().connected()
    await vi.advanceTimersByTimeAsync(100)
    expect(carrier.sent()).toMatchObject([{ pools: ['b'], gap: true }])
  })

  test('keeps to itself what only this process works on (3)', async () => {
    const { carrier, dispatcher } = await aConnected({ isLocal: (pool) => pool === 'mine' })
    const wait = dispatcher.wait('mine', 60_000, new AbortController().signal)
    dispatcher.notify('mine')
    await wait
    await vi.advanceTimersByTimeAsync(100)
    expect(carrier.sent()).toEqual([])
  })

  test('is woken by messages of others, not by its own, and leaves foreign texts alone', async () => {
    const carrier = createScriptedCarrier()
    const dispatcher = createBroadcastDispatcher(carrier.open)
    const { signal } = new AbortController()
    const woken: string[] = []
    const waits = ['a', 'b'].map((pool) => dispatcher.wait(pool, 60_000, signal).then(() => woken.push(pool)))
    for (const text of ['', 'null', '7', '{', '{"f":1}', '{"f":"x","p":7}', '{"f":"x","x":7}'])
      carrier.events().received(text)
    carrier
      .events()
      .received(encodeMessage({ from: 'x', pools: ['a'], changes: new Map(), gap: false }, 8000))
    await waits[0]
    expect(woken).toEqual(['a'])
    carrier.events().woken('b')
    await waits[1]
    expect(woken).toEqual(['a', 'b'])
  })
})

describe('a message', () => {
  const changes = new Map(Array.from({ length: 50 }, (_, n) => [`32081680179973${n}`, n]))

  test('comes out as it went in', () => {
    const message = { from: 'x', pools: ['shared'], changes, gap: true }
    expect(decodeMessage(encodeMessage(message, 8000))).toEqual(message)
  })

  test('that is too long says less, never something wrong', () => {
    const message = { from: 'x', pools: ['shared'], changes, gap: false }
    expect(decodeMessage(encodeMessage(message, 100))).toEqual({ ...message, changes: null })
    expect(decodeMessage(encodeMessage({ ...message, pools: ['p'.repeat(200)] }, 100))).toEqual({
      from: 'x',
      pools: [],
      changes: null,
      gap: true,
    })
  })
})
