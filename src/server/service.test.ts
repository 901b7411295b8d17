import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silentLog } from '../worker/log.ts'
import { createService } from './service.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const aService = (run: () => Promise<unknown>) =>
  createService({ name: 'test', intervalMs: 100, log: silentLog, run })

test('runs once in a while until it is stopped', async () => {
  const run = vi.fn(() => Promise.resolve())
  const service = aService(run)
  service.start()
  service.start()
  await vi.advanceTimersByTimeAsync(350)
  expect(run).toHaveBeenCalledTimes(3)
  await service.stop()
  await vi.advanceTimersByTimeAsync(1000)
  expect(run).toHaveBeenCalledTimes(3)
})

test('goes on after a run that failed', async () => {
  const run = vi.fn(() => Promise.reject(new Error('no')))
  const service = aService(run)
  service.start()
  await vi.advanceTimersByTimeAsync(250)
  expect(run).toHaveBeenCalledTimes(2)
  await service.stop()
})

test('stop waits for the run that is under way', async () => {
  let finish: () => void = () => undefined
  const service = aService(() => new Promise<void>((resolve) => (finish = resolve)))
  service.start()
  await vi.advanceTimersByTimeAsync(100)
  let stopped = false
  const stopping = service.stop().then(() => (stopped = true))
  await vi.advanceTimersByTimeAsync(1000)
  expect(stopped).toBe(false)
  finish()
  await stopping
})

test('starts and stops any number of times', async () => {
  const run = vi.fn(() => Promise.resolve())
  const service = aService(run)
  for (let round = 0; round < 50; round += 1) {
    service.start()
    await vi.advanceTimersByTimeAsync(100)
    await service.stop()
    await service.stop()
  }
  expect(run).toHaveBeenCalledTimes(50)
})
