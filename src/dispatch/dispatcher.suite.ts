/** What every dispatcher must do, and what those that reach other processes must do besides; each runs it. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Dispatcher } from './dispatcher.ts'

const never = new AbortController().signal
const LONG_MS = 20_000

/** True when the wait ended long before its time. */
const isWoken = async (wait: Promise<void>): Promise<boolean> => {
  const before = performance.now()
  await wait
  return performance.now() - before < LONG_MS / 2
}

const opener = (create: () => Promise<Dispatcher>): (() => Promise<Dispatcher>) => {
  const made: Dispatcher[] = []
  afterEach(async () => {
    await Promise.all(made.splice(0).map((dispatcher) => dispatcher.close()))
  })
  return async () => {
    const dispatcher = await create()
    made.push(dispatcher)
    return dispatcher
  }
}

export const dispatcherSuite = (name: string, create: () => Promise<Dispatcher>): void => {
  describe(`${name} dispatcher`, () => {
    const open = opener(create)

    test('wakes everybody who waits for the pool (1)', async () => {
      const dispatcher = await open()
      const waits = Array.from({ length: 3 }, () => isWoken(dispatcher.wait('shared', LONG_MS, never)))
      dispatcher.notify('shared')
      expect(await Promise.all(waits)).toEqual([true, true, true])
    })

    test('wakes nobody who waits for another pool (1)', async () => {
      const dispatcher = await open()
      const before = performance.now()
      const wait = dispatcher.wait('gpu', 150, never)
      dispatcher.notify('shared')
      await wait
      expect(performance.now() - before).toBeGreaterThan(100)
    })

    test('does not remember a notification that nobody waited for (2)', async () => {
      const dispatcher = await open()
      dispatcher.notify('shared')
      const before = performance.now()
      await dispatcher.wait('shared', 100, never)
      expect(performance.now() - before).toBeGreaterThan(50)
    })

    test('ends a wait when its signal aborts, at once when it was aborted before', async () => {
      const dispatcher = await open()
      const gone = new AbortController()
      const wait = isWoken(dispatcher.wait('shared', LONG_MS, gone.signal))
      gone.abort()
      expect(await wait).toBe(true)
      expect(await isWoken(dispatcher.wait('shared', LONG_MS, gone.signal))).toBe(true)
    })

    test('ends every wait when it closes (5)', async () => {
      const dispatcher = await open()
      const waits = [
        isWoken(dispatcher.wait('shared', LONG_MS, never)),
        isWoken(dispatcher.wait('gpu', LONG_MS, never)),
      ]
      await dispatcher.close()
      expect(await Promise.all(waits)).toEqual([true, true])
    })

    test('takes hints after it was closed, and does nothing with them (4)', async () => {
      const dispatcher = await open()
      await dispatcher.close()
      dispatcher.notify('shared')
      dispatcher.changed('7', 1)
      expect(dispatcher.hearsOthers()).toBe(false)
    })

    test('wakes again and again, and a wait that ended is not woken twice', async () => {
      const dispatcher = await open()
      for (let round = 0; round < 50; round += 1) {
        const wait = isWoken(dispatcher.wait('shared', LONG_MS, never))
        dispatcher.notify('shared')
        dispatcher.notify('shared')
        expect(await wait).toBe(true)
      }
    })
  })
}

export interface SharedDispatchers {
  /** Another process; resolves when it hears the others. */
  create(): Promise<Dispatcher>
  /** Breaks every connection; they can be made again afterwards. */
  interrupt(): Promise<void>
}

/** Resolves when it hears others, right now or after its connection is back. */
export const untilHearing = (dispatcher: Dispatcher): Promise<void> =>
  new Promise((resolve) => {
    if (dispatcher.hearsOthers()) return resolve()
    const stop = dispatcher.onChange(() => {
      if (!dispatcher.hearsOthers()) return
      stop()
      resolve()
    })
    return undefined
  })

/** The changes that are told next, gathered until enough of them are there. */
const nextChanges = (dispatcher: Dispatcher, count: number): Promise<ReadonlyMap<string, number> | null> =>
  new Promise((resolve) => {
    const heard = new Map<string, number>()
    const stop = dispatcher.onChange((changes) => {
      for (const [id, position] of changes ?? []) heard.set(id, position)
      if (changes !== null && heard.size < count) return
      stop()
      resolve(changes === null ? null : heard)
    })
  })

export const sharedDispatcherSuite = (name: string, { create, interrupt }: SharedDispatchers): void => {
  dispatcherSuite(name, create)

  describe(`${name} dispatcher, across processes`, () => {
    const open = opener(create)

    test('wakes those who wait elsewhere, and only for that pool (1)', async () => {
      const [here, there, third] = [await open(), await open(), await open()]
      const other = new AbortController()
      let wrong = false
      const gpu = there.wait('gpu', LONG_MS, other.signal).then(() => (wrong = !other.signal.aborted))
      const waits = [there, third].map((each) => isWoken(each.wait('shared', LONG_MS, never)))
      here.notify('shared')
      expect(await Promise.all(waits)).toEqual([true, true])
      other.abort()
      await gpu
      expect(wrong).toBe(false)
    })

    test('wakes elsewhere again and again, however quickly (1)', async () => {
      const [here, there] = [await open(), await open()]
      for (let round = 0; round < 30; round += 1) {
        const wait = isWoken(there.wait('shared', LONG_MS, never))
        for (let n = 0; n < 100; n += 1) here.notify('shared')
        expect(await wait).toBe(true)
      }
    })

    test('tells others which executions changed, from which position on, and not itself', async () => {
      const [here, there] = [await open(), await open()]
      const told: unknown[] = []
      here.onChange((changes) => told.push(changes))
      const heard = nextChanges(there, 2)
      here.changed('320816801799737344', 7)
      here.changed('320816801799737345', 1)
      here.changed('320816801799737344', 9)
      expect(await heard).toEqual(
        new Map([
          ['320816801799737344', 7],
          ['320816801799737345', 1],
        ]),
      )
      expect(told).toEqual([])
    })

    test('tells that anything may have changed when too much did', async () => {
      const [here, there] = [await open(), await open()]
      const heard = nextChanges(there, Infinity)
      for (let n = 0; n < 5000; n += 1) here.changed(String(320816801799737344n + BigInt(n)), 1)
      expect(await heard).toBeNull()
    })

    test('wakes everybody after an interruption, and goes on (3)', async () => {
      const [here, there] = [await open(), await open()]
      const waits = [here, there].map((each) => isWoken(each.wait('gpu', LONG_MS, never)))
      const changes = nextChanges(there, Infinity)
      await interrupt()
      expect(await Promise.all(waits)).toEqual([true, true])
      expect(await changes).toBeNull()
      await Promise.all([here, there].map(untilHearing))
      const wait = isWoken(there.wait('shared', LONG_MS, never))
      here.notify('shared')
      expect(await wait).toBe(true)
    })

    test('takes hints while it is interrupted, without waiting or failing (4)', async () => {
      const [here, there] = [await open(), await open()]
      const interrupted = interrupt()
      for (let n = 0; n < 100; n += 1) {
        here.notify('shared')
        here.changed(String(n), 1)
      }
      await interrupted
      await Promise.all([here, there].map(untilHearing))
    })
  })
}
