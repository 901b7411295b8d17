/** Waiting for reruns and retries. Numbers are those of the header of wait-for-end.ts. */
import { describe, expect, it } from 'vitest'
import type { ExecutionEvent } from '../client/answers.ts'
import type { HistoryClient } from '../client/history.ts'
import { ProblemError } from '../contract/problem.ts'
import type { RerunFlags } from './rerun.ts'
import { rerunExecution } from './rerun.ts'
import type { RetryFlags } from './retry.ts'
import { retryExecution } from './retry.ts'
import { completed, event, failed } from './testing/events.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const RERUN: RerunFlags = {
  command: 'rerun',
  execution: '1',
  from: null,
  fromStep: null,
  fromEvent: null,
  version: null,
  set: [],
  payload: null,
  vars: [],
  wait: true,
  json: false,
}
const RETRY: RetryFlags = {
  command: 'retry',
  execution: '1',
  steps: [],
  vars: [],
  reason: null,
  wait: true,
  json: false,
}
const RERUN_ANSWER = { execution_id: '2', status: 'started', kept_steps: [], dropped_steps: [] }

const numbered = (events: readonly ExecutionEvent[]): readonly ExecutionEvent[] =>
  events.map((each, index) => ({ ...each, position: index + 1 }))

/** A server on which these events happen; then it is over, or nothing happens until the caller leaves. */
const serverWith = (events: readonly ExecutionEvent[], end: { status: string } | null = null) => ({
  url: 'http://here',
  history: {
    state: async () => ({ steps: [{ step: 'fetch' }], last_position: 4, workload: { name: 'Ada' } }),
    rerun: async () => RERUN_ANSWER,
    retry: async () => ({ execution_id: '1', status: 'reopened', steps: ['fetch'], commands_generated: 1 }),
  } as unknown as HistoryClient,
  resolve: () => Promise.resolve('the whole text'),
  follow: async function* (_id: string, { signal }: { signal: AbortSignal }) {
    for (const each of numbered(events)) yield { type: 'event', event: each }
    if (end) yield { type: 'end', end: { error: null, ...end } }
    else
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  } as never,
})

const waiting = (isOwnServer = false) => {
  const controller = new AbortController()
  return { controller, options: { interrupted: controller.signal, isOwnServer } }
}

const RUN = [
  event('playbook_started', 'p', { at: 0 }),
  event('step.enter', 'fetch', { at: 0 }),
  completed('fetch'),
  event('step.exit', 'fetch', { at: 20 }),
]

describe('waiting', () => {
  it('shows the steps, the whole result and the end as run does (1)', async () => {
    const stored = { _ref: 'noetl://execution/2/result/fetch/3', _store: 'kv' }
    const events = [...RUN, event('playbook.completed', 'p', { at: 25, context: { data: stored } })]
    const terminal = createRecordingTerminal()
    const client = serverWith(events, { status: 'COMPLETED' })
    expect(await rerunExecution(RERUN, client, terminal, waiting().options)).toBe(0)
    expect(terminal.written()).toBe(
      'execution 2, a rerun of 1\nok       fetch               20 ms\nresult\nthe whole text\ncompleted after 25 ms, 1 step\n',
    )
  })

  it('shows of a retry only what happens from then on (1)', async () => {
    const events = [
      event('step.enter', 'fetch'),
      failed('fetch', { message: 'the first time' }),
      event('step.exit', 'fetch', { status: 'FAILED' }),
      event('playbook.failed', 'p'),
      event('playbook.reopened', 'p', { at: 1000 }),
      event('step.enter', 'fetch', { at: 1000 }),
      event('step.exit', 'fetch', { at: 1010 }),
      event('playbook.completed', 'p', { at: 1012 }),
    ]
    const terminal = createRecordingTerminal()
    const client = serverWith(events, { status: 'COMPLETED' })
    expect(await retryExecution(RETRY, client, terminal, waiting().options)).toBe(0)
    expect(terminal.written()).toBe(
      'execution 1 runs again, 1 command: fetch\nok       fetch               10 ms  run 2\ncompleted after 12 ms, 1 step\n',
    )
  })

  it.each([
    [false, 'Execution 2 goes on.\n'],
    [true, 'Execution 2 is not over; it goes on with the next server on this data directory: noetl up\n'],
  ])('ends at once with Ctrl-C, and says what becomes of it; own server: %j (2)', async (own, text) => {
    const { controller, options } = waiting(own)
    const terminal = createRecordingTerminal()
    const left = rerunExecution(RERUN, serverWith(RUN), terminal, options)
    setImmediate(() => controller.abort())
    expect(await left).toBe(130)
    expect(terminal.written()).toContain(`${text}Look at it: noetl state 2   Cancel it: noetl cancel 2\n`)
  })

  it('names the execution in one JSON document, also when it is left or the server goes away (1)', async () => {
    const { controller, options } = waiting()
    const terminal = createRecordingTerminal()
    controller.abort()
    const gone = {
      ...serverWith([]),
      follow: () => {
        throw new ProblemError('unavailable', 'away')
      },
    }
    expect(await rerunExecution({ ...RERUN, json: true }, gone, terminal, options)).toBe(130)
    expect(JSON.parse(terminal.written().split('\n')[0] ?? '')).toEqual(RERUN_ANSWER)
    const other = createRecordingTerminal()
    const lost = rerunExecution({ ...RERUN, json: true }, gone, other, waiting().options)
    await expect(lost).rejects.toThrow('away')
    expect(JSON.parse(other.written())).toEqual(RERUN_ANSWER)
  })

  it('a rerun warns of a workload key that is most likely misspelt', async () => {
    const terminal = createRecordingTerminal()
    const flags = { ...RERUN, wait: false, set: ['nmae=Bob', 'colour=red'] }
    await rerunExecution(flags, serverWith([]), terminal, waiting().options)
    expect(terminal.written()).toBe(
      "warning: the workload of the playbook has no 'nmae'. Did you mean 'name'?\nexecution 2, a rerun of 1\n",
    )
  })
})
