/** Lists of executions. Numbers are those of the header of list.ts. */
import { describe, expect, it } from 'vitest'
import type { ExecutionSummary } from '../client/answers.ts'
import type { ListFlags } from './list.ts'
import { listExecutions } from './list.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const NOW = Date.UTC(2026, 0, 31, 12)

const executionOf = (id: string, more: Partial<ExecutionSummary> = {}): ExecutionSummary => ({
  execution_id: id,
  catalog_id: '5',
  path: 'billing/monthly/invoices',
  version: 3,
  status: 'COMPLETED',
  started_at: new Date(NOW - 300_000).toISOString(),
  completed_at: null,
  duration_seconds: 1.5,
  event_count: 9,
  error: null,
  ...more,
})

/** A server that has these, newest first. */
const serverOf = (executions: readonly ExecutionSummary[]) => {
  const asked: unknown[] = []
  const list = async (
    filter: Readonly<Record<string, string>> = {},
  ): Promise<readonly ExecutionSummary[]> => {
    asked.push(filter)
    const from = executions.findIndex(({ execution_id: id }) => id === filter['cursor']) + 1
    return executions.slice(from, from + Math.min(100, Number(filter['limit'])))
  }
  return { asked, list }
}

const FLAGS: ListFlags = { command: 'list', status: null, path: null, limit: null, json: false }

const shown = async (
  executions: readonly ExecutionSummary[],
  flags: Partial<ListFlags> = {},
  options: Parameters<typeof createRecordingTerminal>[0] = {},
): Promise<{ text: string; asked: readonly unknown[] }> => {
  const terminal = createRecordingTerminal(options)
  const server = serverOf(executions)
  expect(await listExecutions({ ...FLAGS, ...flags }, server, terminal, () => NOW)).toBe(0)
  return { text: terminal.written(), asked: server.asked }
}

const TWO = [
  executionOf('380566925190545408', { status: 'RUNNING', started_at: new Date(NOW).toISOString() }),
  executionOf('380566911714246656'),
]

describe('noetl list', () => {
  it('prints one line for each execution', async () => {
    const { text } = await shown(TWO)
    expect(text).toBe(`id                  playbook                  version  status     started    duration
380566925190545408  billing/monthly/invoices  3        RUNNING    just now   1.5 s
380566911714246656  billing/monthly/invoices  3        COMPLETED  5 min ago  1.5 s
`)
  })

  it('fits a narrow terminal: the path loses its front, then columns at the end go', async () => {
    const { text } = await shown(TWO, {}, { isTTY: true, columns: 69 })
    expect(text).toContain('\n380566911714246656  …monthly/invoices  3        COMPLETED  5 min ago\n')
    expect((await shown(TWO, {}, { isTTY: true, columns: 30 })).text).toMatch(/^id\n380566925190545408\n/)
  })

  it('asks for what is wanted, in any case', async () => {
    const { asked } = await shown(TWO, { status: 'running', path: 'billing', limit: '5' })
    expect(asked).toEqual([{ status: 'RUNNING', path: 'billing', limit: '6' }])
  })

  it('says that there are more than it shows (1)', async () => {
    const { text } = await shown(TWO, { limit: '1' })
    expect(text).not.toContain('380566911714246656')
    expect(text).toContain('The newest 1; there are more: --limit 5')
  })

  it('reads several pages when more is asked for than one has (1)', async () => {
    const many = Array.from({ length: 250 }, (_, index) => executionOf(String(1000 - index)))
    const { text, asked } = await shown(many, { limit: '220', json: true })
    expect(JSON.parse(text)).toEqual(many.slice(0, 220))
    expect(asked).toEqual([{ limit: '100' }, { limit: '100', cursor: '901' }, { limit: '21', cursor: '801' }])
  })

  it.each([
    [{}, 'There are no executions yet. Start one with: noetl run examples/hello.yaml\n'],
    [{ status: 'failed' }, 'No execution is like that. All of them: noetl list\n'],
    [{ json: true }, '[]\n'],
  ])('says what to do when there is nothing for %j (2, 3)', async (flags, text) => {
    expect((await shown([], flags)).text).toBe(text)
  })

  it.each([
    [{ status: 'done' }, '--status done: it is one of running, completed, failed, cancelled'],
    [{ limit: '0' }, "--limit must be a whole number from 1 to 10000, got '0'"],
    [{ limit: 'x' }, "--limit must be a whole number from 1 to 10000, got 'x'"],
  ])('refuses %j', async (flags, message) => {
    await expect(
      listExecutions({ ...FLAGS, ...flags }, serverOf([]), createRecordingTerminal()),
    ).rejects.toMatchObject({ code: 'invalid', message })
  })
})
