/** What every dispatcher must do; each implementation runs it. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Dispatcher } from './dispatcher.ts'

export const dispatcherSuite = (name: string, create: () => Promise<Dispatcher>): void => {
  describe(`${name} dispatcher`, () => {
    const made: Dispatcher[] = []
    const open = async (): Promise<Dispatcher> => {
      const dispatcher = await create()
      made.push(dispatcher)
      return dispatcher
    }
    afterEach(async () => {
      await Promise.all(made.splice(0).map((dispatcher) => dispatcher.close()))
    })
    const never = new AbortController().signal
    const LONG_MS = 20_000

    /** True when the wait ended long before its time. */
    const isWoken = async (wait: Promise<void>): Promise<boolean> => {
      const before = performance.now()
      await wait
      return performance.now() - before < LONG_MS / 2
    }

    test('wakes everybody who waits for the pool', async () => {
      const dispatcher = await open()
      const waits = Array.from({ length: 3 }, () => isWoken(dispatcher.wait('shared', LONG_MS, never)))
      dispatcher.notify('shared')
      expect(await Promise.all(waits)).toEqual([true, true, true])
    })

    test('wakes nobody who waits for another pool', async () => {
      const dispatcher = await open()
      const before = performance.now()
      const wait = dispatcher.wait('gpu', 150, never)
      dispatcher.notify('shared')
      await wait
      expect(performance.now() - before).toBeGreaterThan(100)
    })

    test('does not remember a notification that nobody waited for', async () => {
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

    test('ends every wait when it closes', async () => {
      const dispatcher = await open()
      const waits = [
        isWoken(dispatcher.wait('shared', LONG_MS, never)),
        isWoken(dispatcher.wait('gpu', LONG_MS, never)),
      ]
      await dispatcher.close()
      expect(await Promise.all(waits)).toEqual([true, true])
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
