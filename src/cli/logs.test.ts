import { describe, expect, test } from 'vitest'
import { ProblemError } from '../contract/problem.ts'
import type { LogEntry } from '../client/answers.ts'
import type { FollowedLog } from '../client/follow.ts'
import type { LogsClient, LogsFlags } from './logs.ts'
import { showLogs } from './logs.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const FLAGS: LogsFlags = { execution: '7', step: null, follow: false, json: false }

const entry = (text: string, over: Partial<LogEntry> = {}): LogEntry => ({
  cursor: '1-1-1-1',
  step: 'start',
  command_id: 'c',
  event_id: '1',
  attempt: 1,
  stream: 'stdout',
  at: '2026-01-01T00:00:00.000Z',
  text,
  ...over,
})

/** Of a playbook whose steps are these. */
const historyOf = (...steps: readonly string[]): LogsClient['history'] => ({
  explain: (_id, { step = '' }) =>
    Promise.reject(
      steps.includes(step)
        ? new ProblemError('not_found', 'no log of this engine')
        : new ProblemError('invalid', `Step '${step}' is not in the playbook; it has: ${steps.join(', ')}`),
    ),
})

const show = async (entries: readonly LogEntry[], over: Partial<LogsFlags> = {}) => {
  const terminal = createRecordingTerminal()
  const asked: Readonly<Record<string, string>>[] = []
  const client = {
    history: historyOf('start', 'x'),
    logs: async (_id: string, filter: Readonly<Record<string, string>> = {}) => {
      asked.push(filter)
      const page = entries.slice(asked.length * 2 - 2, asked.length * 2)
      return { entries: page, next_cursor: asked.length * 2 < entries.length ? `c${asked.length}` : null }
    },
    async *followLogs(): AsyncGenerator<FollowedLog> {
      for (const each of entries) yield { type: 'output', entry: each }
      yield { type: 'end', end: { status: 'FAILED', error: 'x' } }
    },
  }
  const { signal } = new AbortController()
  const exitCode = await showLogs({ ...FLAGS, ...over }, client, terminal, signal)
  return { exitCode, asked, written: terminal.written() }
}

test('pieces become lines, whole ones first, each with its step (rule 2)', async () => {
  const { exitCode, written } = await show([
    entry('one\ntw'),
    entry('other\r\n', { step: 'second', event_id: '2' }),
    entry('o\nthr'),
  ])
  expect([exitCode, written]).toEqual([0, 'start | one\nsecond | other\nstart | two\nstart | thr\n'])
})

test('of one step there is no prefix, and every page is asked for', async () => {
  const { asked, written } = await show([entry('a\n'), entry('b\n'), entry('c\n')], { step: 'start' })
  expect(written).toBe('a\nb\nc\n')
  expect(asked).toEqual([{ step: 'start' }, { step: 'start', after: 'c1' }])
})

test('nothing printed is said', async () => {
  expect((await show([])).written).toBe('No tool of this execution printed anything\n')
  expect((await show([], { step: 'x' })).written).toBe("No tool of step 'x' printed anything\n")
  expect((await show([], { json: true })).written).toBe('')
})

test.each([false, true])(
  'a step that the playbook does not have is a mistake, also when following: %s (rule 5)',
  async (follow) => {
    const { exitCode, written } = await show([], { step: 'strat', follow })
    expect([exitCode, written]).toEqual([
      1,
      "error: Execution 7 has no such step: Step 'strat' is not in the playbook; it has: start, x\n",
    ])
  },
)

test('following ends with the execution and says how it ended', async () => {
  const { exitCode, written } = await show([entry('a\n')], { follow: true })
  expect([exitCode, written]).toEqual([0, 'start | a\nExecution 7 failed\n'])
})

test('for programs every piece is a document (rule 3)', async () => {
  const { written } = await show([entry('a\n'), entry('b')], { json: true })
  expect(
    written
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as LogEntry).text),
  ).toEqual(['a\n', 'b'])
})

test('following ends quietly when the user wants it to, and not otherwise (rule 4)', async () => {
  const interrupt = new AbortController()
  const terminal = createRecordingTerminal()
  const client = {
    history: historyOf('start'),
    logs: () => Promise.reject(new Error('not asked for')),
    async *followLogs(): AsyncGenerator<FollowedLog> {
      yield { type: 'output', entry: entry('a\nb') }
      interrupt.abort()
      throw new Error('This operation was aborted')
    },
  }
  const flags = { ...FLAGS, follow: true }
  expect(await showLogs(flags, client, terminal, interrupt.signal)).toBe(0)
  expect(terminal.written()).toBe('start | a\nstart | b\n')
  const { signal } = new AbortController()
  await expect(showLogs(flags, client, terminal, signal)).rejects.toThrow('aborted')
})

describe('a reader that went away (rule 4)', () => {
  const abandoned = { ...createRecordingTerminal(), abandoned: AbortSignal.abort() }
  const never = new AbortController().signal
  const refuse = (): never => {
    throw new Error('nobody wants it')
  }

  test('ends the following', async () => {
    const client: LogsClient = {
      history: historyOf(),
      logs: refuse,
      async *followLogs(_id, _filter, { signal } = {}) {
        signal?.throwIfAborted()
        yield { type: 'output', entry: entry('more\n') }
      },
    }
    expect(await showLogs({ ...FLAGS, follow: true }, client, abandoned, never)).toBe(0)
  })

  test('ends the reading of further pages', async () => {
    const client: LogsClient = { history: historyOf(), logs: refuse, followLogs: refuse }
    expect(await showLogs(FLAGS, client, abandoned, never)).toBe(0)
  })
})

test('a connection that breaks while following is told', async () => {
  const terminal = createRecordingTerminal()
  const client: LogsClient = {
    history: historyOf(),
    logs: () => Promise.reject(new Error('not asked')),
    async *followLogs(_id, _filter, { onBreak } = {}) {
      onBreak?.(new ProblemError('unavailable', 'gone'))
      yield { type: 'end', end: { status: 'COMPLETED', error: null } }
    },
  }
  await showLogs({ ...FLAGS, follow: true }, client, terminal, new AbortController().signal)
  expect(terminal.written()).toMatch(/^The connection broke; reading on from where it was\.\n/)
})
