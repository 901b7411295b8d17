import { describe, expect, test } from 'vitest'
import { WrongServer } from '../client/wrong-server.ts'
import type { ControlPlane, LeasedCommand } from '../contract/command.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { ProblemError } from '../contract/problem.ts'
import { isDismissal } from './dismissal.ts'
import { silentLog } from './log.ts'
import { createPresence } from './presence.ts'
import { aCommand, createHandClock, settle } from './test-support.ts'
import type { Tool, ToolResult } from './tool.ts'
import { createToolRegistry } from './tools/registry.ts'
import { createWorker } from './worker.ts'

type Call = 'lease' | 'report' | 'heartbeat' | 'output' | 'announce'

/** A worker whose calls wait for ever, or fail with what `failWith` says. */
const setUp = () => {
  const time = createHandClock()
  const calls: string[] = []
  const refusals = new Map<Call, Error>()
  const running = new Map<string, { signal: AbortSignal; finish: (result: ToolResult) => void }>()
  const dismissals: { message: string; steps: string[] }[] = []
  const act = (call: Call): Promise<never> => {
    calls.push(call)
    const error = refusals.get(call)
    return error ? Promise.reject(error) : new Promise(() => undefined)
  }
  const controlPlane = {
    lease: ({ signal }: Parameters<ControlPlane['lease']>[0]) =>
      Promise.race([
        act('lease'),
        new Promise<readonly LeasedCommand[]>((resolve) =>
          signal.addEventListener('abort', () => resolve([])),
        ),
      ]),
    report: () => act('report'),
    heartbeat: () => act('heartbeat'),
    output: () => act('output'),
    announce: () => act('announce'),
    release: async () => void calls.push('release'),
  } as unknown as ControlPlane
  const tool: Tool = {
    kind: 'hand',
    instant: false,
    run: ({ command, signal, log }) =>
      new Promise((resolve) => {
        if (command.step === 'prints') log('stdout', 'words')
        running.set(command.step, { signal, finish: resolve })
        signal.addEventListener('abort', () => resolve({ outcome: 'error', error: signal.reason.error }))
      }),
  }
  const worker = createWorker({
    controlPlane,
    tools: createToolRegistry([tool]),
    workerId: 'w',
    pool: 'shared',
    slots: 2,
    log: silentLog,
    clock: time.clock,
    onDismissed: ({ message }, aborted) =>
      dismissals.push({ message, steps: aborted.map(({ step }) => step) }),
  })
  const accept = (...steps: readonly string[]): void =>
    worker.accept(steps.map((step) => aCommand({ toolKind: 'hand', step })))
  const failWith = (code: ProblemCode, ...names: readonly Call[]): void => {
    for (const name of names) refusals.set(name, new ProblemError(code, code))
  }
  const count = (call: string): number => calls.filter((each) => each === call).length
  return { ...time, worker, controlPlane, accept, failWith, refusals, running, dismissals, count }
}

describe('a worker that is not let in any more', () => {
  test('asks for no more work and says why, once', async () => {
    const { worker, failWith, dismissals, count, advance, timerCount } = setUp()
    failWith('unauthorized', 'lease')
    worker.start()
    await advance(600_000)
    expect(dismissals).toEqual([{ message: 'unauthorized', steps: [] }])
    expect([count('lease'), timerCount(), worker.freeSlots()]).toEqual([1, 0, 0])
  })

  test('learns it by its heartbeat, aborts what it holds and says what that was', async () => {
    const { worker, accept, failWith, running, dismissals, count, advance } = setUp()
    worker.start()
    accept('a', 'b', 'queued')
    failWith('unauthorized', 'heartbeat')
    await advance(5_000)
    expect(dismissals).toEqual([{ message: 'unauthorized', steps: ['a', 'b', 'queued'] }])
    expect([...running.keys()]).toEqual(['a', 'b'])
    expect([...running.values()].every(({ signal }) => signal.aborted)).toBe(true)
    await worker.idle()
    // Nobody would hear a report, and nothing can be handed back.
    await worker.stop({ graceMs: 30_000 })
    expect([count('report'), count('release'), count('heartbeat')]).toEqual([0, 0, 1])
  })

  test('learns it by its report, which it does not repeat', async () => {
    const { accept, worker, failWith, running, dismissals, count, advance } = setUp()
    accept('a', 'b')
    failWith('forbidden', 'report')
    running.get('a')?.finish({ outcome: 'ok', data: 1 })
    await advance(600_000)
    expect(dismissals).toEqual([{ message: 'forbidden', steps: ['a', 'b'] }])
    await worker.idle()
    expect(count('report')).toBe(1)
  })

  test('learns it while it is announced', async () => {
    const { worker, controlPlane, clock, failWith, dismissals, count, advance } = setUp()
    failWith('unauthorized', 'announce')
    const facts = { workerId: 'w', pool: 'shared', slots: 1, capabilities: [], hostname: 'h', version: '0' }
    const isFinal = (error: unknown): boolean => worker.isDismissedBy(error)
    createPresence(controlPlane, facts, { clock, log: silentLog, isFinal }).start()
    await advance(600_000)
    expect([dismissals.length, count('announce')]).toEqual([1, 1])
  })

  test('does not wait for output that is refused, too', async () => {
    const { accept, worker, failWith, advance, dismissals } = setUp()
    accept('prints')
    failWith('unauthorized', 'heartbeat', 'output')
    await advance(5_000)
    expect(dismissals).toHaveLength(1)
    await advance(1_000)
    await worker.idle()
  })

  test('drains no longer when it was stopping already', async () => {
    const { accept, worker, failWith, running, dismissals, advance } = setUp()
    accept('a')
    await settle()
    failWith('unauthorized', 'heartbeat')
    const stopped = worker.stop({ graceMs: 600_000 })
    await advance(1)
    await stopped
    expect(dismissals).toEqual([{ message: 'unauthorized', steps: ['a'] }])
    expect(running.get('a')?.signal.aborted).toBe(true)
  })
})

describe('what is no dismissal', () => {
  test.each(['unavailable', 'internal', 'too_many_requests', 'conflict'] as const)(
    '%s: the worker goes on asking',
    async (code) => {
      const { worker, accept, failWith, running, dismissals, count, advance } = setUp()
      failWith(code, 'lease', 'heartbeat')
      worker.start()
      accept('a')
      await advance(60_000)
      expect(dismissals).toEqual([])
      expect(count('lease')).toBeGreaterThan(5)
      expect(count('heartbeat')).toBeGreaterThan(5)
      expect(running.get('a')?.signal.aborted).toBe(false)
    },
  )

  test('a stranger in the place of the server that wants a login of its own; what he says to a report, either', async () => {
    const { accept, refusals, running, dismissals, count, advance } = setUp()
    for (const code of ['unauthorized', 'forbidden', 'not_found'] as const) {
      const stranger = new WrongServer(code, 'answered; is it a NoETL server?')
      expect(isDismissal(stranger)).toBe(false)
      refusals.set('report', stranger)
    }
    accept('a')
    running.get('a')?.finish({ outcome: 'ok', data: 1 })
    await advance(60_000)
    expect(count('report')).toBeGreaterThan(5)
    expect(dismissals).toEqual([])
  })
})
