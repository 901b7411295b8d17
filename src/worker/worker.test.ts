import { describe, expect, test } from 'vitest'

import type { CommandReport, ControlPlane, HeartbeatStatus, LeasedCommand } from '../contract/command.ts'
import { ProblemError } from '../contract/problem.ts'
import { silentLog } from './log.ts'
import { aCommand, createHandClock, settle } from './test-support.ts'
import type { Tool, ToolResult } from './tool.ts'
import { noopTool } from './tools/noop.ts'
import { createToolRegistry } from './tools/registry.ts'
import { createWorker, type Worker } from './worker.ts'

interface LeaseCall {
  readonly max: number
  answer(commands: readonly LeasedCommand[]): void
  fail(error: Error): void
}

/** A control plane whose answers the test decides. */
const createFakeControlPlane = () => {
  const leases: LeaseCall[] = []
  const reports: CommandReport[] = []
  const heartbeats: string[][] = []
  const released: string[] = []
  const answers = {
    report: (_report: CommandReport): Promise<'ok' | 'lost'> => Promise.resolve('ok'),
    heartbeat: (ids: string[]): Promise<HeartbeatStatus[]> => Promise.resolve(ids.map(() => 'ok')),
  }
  const controlPlane: ControlPlane = {
    lease: ({ max, signal }) =>
      new Promise((resolve, reject) => {
        leases.push({ max, answer: resolve, fail: reject })
        signal.addEventListener('abort', () => resolve([]))
      }),
    report(report) {
      reports.push(report)
      return answers.report(report)
    },
    heartbeat({ leases: held }) {
      const ids = held.map((lease) => lease.eventId)
      heartbeats.push(ids)
      return answers.heartbeat(ids)
    },
    release({ leases: given }) {
      released.push(...given.map((lease) => lease.eventId))
      return Promise.resolve()
    },
    announce: () => Promise.resolve(),
    farewell: () => Promise.resolve(),
    output: () => Promise.resolve(),
    credential: () => Promise.resolve(null),
    keychainRecipe: () => Promise.resolve(null),
    keepKeychain: () => Promise.resolve(),
    startPlaybook: () => Promise.reject(new Error('not asked for')),
    awaitPlaybook: () => Promise.resolve(null),
    result: () => Promise.resolve(null),
  }
  return { controlPlane, leases, reports, heartbeats, released, answers }
}

/** A tool whose calls the test ends by hand. */
const createHandTool = () => {
  const calls: { step: string; signal: AbortSignal; finish: (result: ToolResult) => void }[] = []
  const tool: Tool = {
    kind: 'hand',
    instant: false,
    run: ({ command, signal }) =>
      new Promise((resolve) => {
        calls.push({ step: command.step, signal, finish: resolve })
        signal.addEventListener('abort', () => resolve({ outcome: 'error', error: signal.reason.error }))
      }),
  }
  return { tool, calls }
}

const setUp = (slots = 2) => {
  const plane = createFakeControlPlane()
  const hand = createHandTool()
  const time = createHandClock()
  const worker: Worker = createWorker({
    controlPlane: plane.controlPlane,
    tools: createToolRegistry([noopTool, hand.tool]),
    workerId: 'worker-1',
    pool: 'default',
    slots,
    log: silentLog,
    clock: time.clock,
  })
  return { ...plane, ...time, calls: hand.calls, worker }
}

const byHand = (step: string): LeasedCommand => aCommand({ toolKind: 'hand', step })
const done: ToolResult = { outcome: 'ok', data: 1 }

describe('running', () => {
  test('an instant command is reported before accept returns (1)', () => {
    const { worker, reports } = setUp()
    const command = aCommand({ attempt: 3 }, { result: { a: 1 } })
    worker.accept([command])
    expect(reports).toEqual([
      {
        executionId: command.executionId,
        eventId: command.eventId,
        commandId: command.commandId,
        step: command.step,
        workerId: 'worker-1',
        leaseToken: command.leaseToken,
        attempt: 3,
        outcome: 'ok',
        data: { a: 1 },
        durationMs: 0,
      },
    ])
  })

  test('at most as many commands run as there are slots; instant ones overtake (1)', async () => {
    const { worker, calls, reports } = setUp(2)
    worker.accept([byHand('a'), byHand('b'), byHand('c'), aCommand({ step: 'quick' })])
    expect(calls.map((call) => call.step)).toEqual(['a', 'b'])
    expect(reports.map((report) => report.step)).toEqual(['quick'])
    expect(worker.freeSlots()).toBe(0)
    calls[0]?.finish(done)
    await settle()
    expect(calls.map((call) => call.step)).toEqual(['a', 'b', 'c'])
    expect(reports.map((report) => report.step)).toEqual(['quick', 'a'])
  })

  test('the slot is free while the report is answered, so the answer can bring the next command (2)', async () => {
    const { worker, calls, answers } = setUp(1)
    const seen: number[] = []
    answers.report = async ({ step }) => {
      seen.push(worker.freeSlots())
      if (step === 'a') worker.accept([byHand('b')])
      return 'ok'
    }
    worker.accept([byHand('a')])
    calls[0]?.finish(done)
    await settle()
    expect(seen).toEqual([1])
    expect(calls.map((call) => call.step)).toEqual(['a', 'b'])
  })

  test('a long chain of instant commands needs no stack', async () => {
    const { worker, answers, reports } = setUp()
    answers.report = async () => {
      if (reports.length < 20_000) worker.accept([aCommand()])
      return 'ok'
    }
    worker.accept([aCommand()])
    expect(reports.length).toBe(20_000)
    await worker.idle()
  })

  test('the same lease given twice runs once; a new lease of a command replaces the old', async () => {
    const { worker, calls, reports } = setUp(2)
    const command = byHand('a')
    worker.accept([command])
    worker.accept([command])
    expect(calls.length).toBe(1)
    worker.accept([{ ...command, leaseToken: 'newer' }])
    expect(calls.length).toBe(2)
    expect(calls[0]?.signal.aborted).toBe(true)
    calls[1]?.finish(done)
    await worker.idle()
    expect(reports.map((report) => report.leaseToken)).toEqual(['newer'])
  })
})

describe('leasing', () => {
  test('asks for as many commands as there is room for, again whenever there is room', async () => {
    const { worker, leases, calls } = setUp(2)
    worker.start()
    expect(leases.map((lease) => lease.max)).toEqual([2])
    leases[0]?.answer([byHand('a')])
    await settle()
    expect(leases.map((lease) => lease.max)).toEqual([2, 1])
    leases[1]?.answer([byHand('b')])
    await settle()
    expect(leases.length).toBe(2)
    calls[0]?.finish(done)
    await settle()
    expect(leases.map((lease) => lease.max)).toEqual([2, 1, 1])
  })

  test('costs nothing while it waits', async () => {
    const { worker, leases, timerCount } = setUp()
    worker.start()
    await settle()
    expect(leases.length).toBe(1)
    expect(timerCount()).toBe(0)
  })

  test('a failure is followed by growing pauses, an answer resets them', async () => {
    const { worker, leases, advance } = setUp()
    worker.start()
    leases[0]?.fail(new Error('connection refused'))
    await advance(190)
    expect(leases.length).toBe(1)
    await advance(120)
    expect(leases.length).toBe(2)
    leases[1]?.fail(new Error('connection refused'))
    await advance(390)
    expect(leases.length).toBe(2)
    await advance(220)
    expect(leases.length).toBe(3)
  })

  test('an empty answer that did not wait does not make it spin', async () => {
    const { worker, leases, advance } = setUp()
    worker.start()
    leases[0]?.answer([])
    await advance(100)
    expect(leases.length).toBe(1)
    await advance(300)
    expect(leases.length).toBe(2)
  })
})

describe('heartbeats', () => {
  test('one call every 5 seconds for all that is held, none when nothing is', async () => {
    const { worker, calls, heartbeats, advance, timerCount } = setUp(1)
    const commands = [byHand('a'), byHand('b')]
    worker.accept(commands)
    await advance(5_000)
    expect(heartbeats).toEqual([commands.map((command) => command.eventId)])
    calls[0]?.finish(done)
    await settle()
    calls[1]?.finish(done)
    await advance(5_000)
    expect(heartbeats.length).toBe(1)
    expect(timerCount()).toBe(0)
  })

  test.each(['lost', 'cancelled'] as const)(
    'a command that is %s is aborted and not reported (3)',
    async (status) => {
      const { worker, calls, reports, answers, advance } = setUp(1)
      answers.heartbeat = (ids) => Promise.resolve(ids.map(() => status))
      worker.accept([byHand('a'), byHand('waiting')])
      await advance(15_000)
      expect(calls.map((call) => call.signal.aborted)).toEqual([true])
      await worker.idle()
      expect(reports).toEqual([])
      expect(worker.freeSlots()).toBe(1)
    },
  )

  test('a failed heartbeat is repeated soon', async () => {
    const { worker, heartbeats, answers, advance } = setUp(1)
    answers.heartbeat = () => Promise.reject(new Error('down'))
    worker.accept([byHand('a')])
    await advance(16_500)
    expect(heartbeats.length).toBeGreaterThan(2)
  })
})

describe('reporting', () => {
  test('is repeated until it is answered, and no work is asked for meanwhile (4)', async () => {
    const { worker, leases, calls, reports, answers, advance } = setUp(2)
    answers.report = () => Promise.reject(new Error('down'))
    worker.start()
    leases[0]?.answer([byHand('a'), byHand('b')])
    await settle()
    calls[0]?.finish(done)
    await advance(5_000)
    expect(reports.length).toBeGreaterThan(3)
    expect(leases.length).toBe(1)
    answers.report = () => Promise.resolve('ok')
    await advance(10_000)
    const answered = reports.length
    expect(leases.length).toBe(2)
    await advance(60_000)
    expect(reports.length).toBe(answered)
  })

  test.each(['unauthorized', 'forbidden'] as const)(
    'a result is kept while the worker is %s, and delivered when it is let in again',
    async (code) => {
      const { worker, reports, answers, advance } = setUp()
      answers.report = () => Promise.reject(new ProblemError(code, 'The token was revoked'))
      worker.accept([aCommand({}, { result: 'precious' })])
      await advance(60_000)
      answers.report = () => Promise.resolve('ok')
      await advance(15_000)
      await worker.idle()
      expect(reports.at(-1)).toMatchObject({ outcome: 'ok', data: 'precious' })
    },
  )

  test('a result that is refused for its size becomes a failure', async () => {
    const { worker, reports, answers } = setUp()
    answers.report = ({ outcome }) =>
      outcome === 'ok' ? Promise.reject(new ProblemError('too_large', 'over 64 MB')) : Promise.resolve('ok')
    worker.accept([aCommand({}, { result: 'big' })])
    await worker.idle()
    expect(reports[1]).toMatchObject({
      outcome: 'error',
      error: { kind: 'result_too_large', code: 'REPORT_REFUSED', retryable: false },
    })
    expect(reports[1]).not.toHaveProperty('data')
  })

  test('a report that the control plane keeps stumbling over becomes a failure, and then is dropped', async () => {
    const { worker, reports, answers, advance } = setUp()
    answers.report = () => Promise.reject(new ProblemError('internal', 'bug'))
    worker.accept([aCommand()])
    await advance(300_000)
    await worker.idle()
    expect(reports[10]?.outcome).toBe('ok')
    expect(reports.at(-1)?.error?.code).toBe('REPORT_REFUSED')
  })

  test('a lease that is gone ends it', async () => {
    const { worker, reports, answers } = setUp()
    answers.report = () => Promise.reject(new ProblemError('lease_lost', 'someone else has it'))
    worker.accept([aCommand()])
    await worker.idle()
    expect(reports.length).toBe(1)
  })
})

describe('stopping (5)', () => {
  test('finishes what runs, hands back what does not, takes nothing new', async () => {
    const { worker, calls, reports, released, leases } = setUp(2)
    const [a, b, waiting, late] = [byHand('a'), byHand('b'), byHand('waiting'), byHand('late')]
    worker.start()
    worker.accept([a, b, waiting])
    const stopped = worker.stop({ graceMs: 30_000 })
    worker.accept([late])
    await settle()
    expect(released).toEqual([waiting.eventId, late.eventId])
    calls[0]?.finish(done)
    calls[1]?.finish(done)
    await stopped
    expect(reports.map((report) => report.step)).toEqual(['a', 'b'])
    expect(leases.length).toBe(1)
    expect(worker.freeSlots()).toBe(0)
  })

  test('aborts and hands back what outlasts the grace', async () => {
    const { worker, calls, reports, released, advance, timerCount } = setUp(1)
    const command = byHand('a')
    worker.accept([command])
    const stopped = worker.stop({ graceMs: 1_000 })
    await advance(900)
    expect(calls[0]?.signal.aborted).toBe(false)
    await advance(200)
    await stopped
    expect(calls[0]?.signal.aborted).toBe(true)
    expect(reports).toEqual([])
    expect(released).toEqual([command.eventId])
    expect(timerCount()).toBe(0)
  })

  test('gives up on reports that nobody answers', async () => {
    const { worker, answers, released, advance } = setUp()
    answers.report = () => Promise.reject(new Error('down'))
    const command = aCommand()
    worker.accept([command])
    const stopped = worker.stop({ graceMs: 1_000 })
    await advance(1_100)
    await stopped
    expect(released).toEqual([command.eventId])
  })
})
