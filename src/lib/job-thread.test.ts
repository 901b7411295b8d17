import { afterEach, expect, test, vi } from 'vitest'
import { createJobThread, type JobThread } from './job-thread.ts'

const HERE = new URL('job-thread.ts', import.meta.url).href
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { serveJobs } from '${HERE}'
    import { threadId } from 'node:worker_threads'
    serveJobs((job) => {
      if (job.kind === 'fail') throw new RangeError('no')
      if (job.kind === 'die') process.exit(3)
      if (job.kind === 'fill') {
        const kept = []
        for (;;) kept.push(new Array(1e6).fill(kept.length))
      }
      if (job.kind === 'who') return { value: threadId }
      const bytes = new Uint8Array(job.bytes).map((byte) => byte + 1)
      return { value: bytes, transfer: [bytes.buffer] }
    })`)}`,
)

let thread: JobThread | undefined
const start = (idleMs = 10_000): JobThread =>
  (thread = createJobThread(program, { idleMs, heapMegabytes: 64 }))

afterEach(() => thread?.close())

test('does jobs elsewhere; what is transferred is moved, not copied', async () => {
  const bytes = new Uint8Array([1, 2, 3])
  expect(await start().run({ bytes }, [bytes.buffer])).toEqual(new Uint8Array([2, 3, 4]))
  expect(bytes).toHaveLength(0)
})

test('a job that fails fails alone', async () => {
  const jobs = start()
  const failing = expect(jobs.run({ kind: 'fail' })).rejects.toThrow(RangeError)
  const first = await jobs.run({ kind: 'who' })
  await failing
  expect(await jobs.run({ kind: 'who' })).toBe(first)
})

test('a thread that dies fails the jobs it had, and the next job starts another (rule 2)', async () => {
  const jobs = start()
  const first = await jobs.run({ kind: 'who' })
  const waiting = [jobs.run({ kind: 'die' }), jobs.run({ kind: 'who' })]
  for (const job of waiting) await expect(job).rejects.toThrow('code 3')
  expect(await jobs.run({ kind: 'who' })).not.toBe(first)
})

test('a job that needs too much memory does not take the process with it', async () => {
  const jobs = start()
  await expect(jobs.run({ kind: 'fill' })).rejects.toThrow(/memory/)
  expect(await jobs.run({ kind: 'who' })).toBeGreaterThan(0)
})

test('an idle thread ends, and comes back with the next job (rule 1)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const jobs = start(500)
    const first = await jobs.run({ kind: 'who' })
    vi.advanceTimersByTime(499)
    expect(await jobs.run({ kind: 'who' })).toBe(first)
    vi.advanceTimersByTime(500)
    expect(await jobs.run({ kind: 'who' })).not.toBe(first)
  } finally {
    vi.useRealTimers()
  }
})
