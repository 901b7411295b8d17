import { expect, test } from 'vitest'
import type { LogEntry } from '../client/answers.ts'
import type { FollowedLog } from '../client/follow.ts'
import type { LogsFlags } from './logs.ts'
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

const show = async (entries: readonly LogEntry[], over: Partial<LogsFlags> = {}) => {
  const terminal = createRecordingTerminal()
  const asked: Readonly<Record<string, string>>[] = []
  const client = {
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
