/**
 * `noetl list`: executions, newest first.
 *
 * 1. Only as many as asked for, however many pages of the server that takes; that there are more is said on stderr.
 * 2. Where there is nothing to list, it says what to do about it.
 * 3. With `--json` stdout holds exactly one JSON document, empty or not.
 */
import type { ExecutionSummary } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import { ProblemError } from '../contract/problem.ts'
import { ageText, durationText } from './duration.ts'
import { EXIT } from './failure.ts'
import { tableLines } from './table.ts'
import type { Style, Terminal } from './terminal.ts'

export interface ListFlags {
  readonly command: 'list'
  readonly status: string | null
  readonly path: string | null
  readonly limit: string | null
  readonly json: boolean
}

const DEFAULT_LIMIT = 20
const MOST = 10_000
/** What a server gives at once. */
const PAGE = 100
const STATUSES: readonly string[] = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']

export const listExecutions = async (
  flags: ListFlags,
  client: Pick<Client, 'list'>,
  terminal: Terminal,
  now: () => number = Date.now,
): Promise<number> => {
  const limit = limitOf(flags.limit)
  const filter = filterOf(flags)
  // One more tells whether that was all.
  const found = await read(client, filter, limit + 1)
  const executions = found.slice(0, limit)
  if (flags.json) terminal.out(JSON.stringify(executions, null, 2))
  else if (executions.length === 0) terminal.err(emptyText(filter))
  else {
    for (const line of linesOf(executions, terminal, now())) terminal.out(line)
    if (found.length > limit)
      terminal.err(
        terminal.errorStyle.dim(
          `The newest ${limit}; there are more: --limit ${Math.min(MOST, limit * 5)}, --status or --path`,
        ),
      )
  }
  return EXIT.ok
}

type Filter = Readonly<Record<string, string>>

const read = async (
  client: Pick<Client, 'list'>,
  filter: Filter,
  wanted: number,
): Promise<readonly ExecutionSummary[]> => {
  const found: ExecutionSummary[] = []
  for (;;) {
    const size = Math.min(PAGE, wanted - found.length)
    const last = found.at(-1)
    const page = await client.list({
      ...filter,
      limit: String(size),
      ...(last ? { cursor: last.execution_id } : {}),
    })
    found.push(...page)
    if (page.length < size || found.length >= wanted) return found
  }
}

const limitOf = (given: string | null): number => {
  if (given === null) return DEFAULT_LIMIT
  const limit = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= MOST) return limit
  throw new ProblemError('invalid', `--limit must be a whole number from 1 to ${MOST}, got '${given}'`)
}

const filterOf = ({ status, path }: ListFlags): Filter => {
  const word = status?.toUpperCase()
  if (word !== undefined && !STATUSES.includes(word))
    throw new ProblemError('invalid', `--status ${status}: it is one of ${STATUSES.join(', ').toLowerCase()}`)
  return { ...(word === undefined ? {} : { status: word }), ...(path === null ? {} : { path }) }
}

const emptyText = (filter: Filter): string =>
  Object.keys(filter).length === 0
    ? 'There are no executions yet. Start one with: noetl run examples/hello.yaml'
    : 'No execution is like that. All of them: noetl list'

const HEAD = ['id', 'playbook', 'version', 'status', 'started', 'duration']
const PLAYBOOK_COLUMN = 1
const STATUS_COLUMN = 3

const linesOf = (
  executions: readonly ExecutionSummary[],
  terminal: Terminal,
  now: number,
): readonly string[] =>
  tableLines(
    {
      head: HEAD,
      rows: executions.map((execution) => [
        execution.execution_id,
        execution.path ?? '',
        String(execution.version ?? ''),
        execution.status,
        ageText(now - Date.parse(execution.started_at)),
        durationText(execution.duration_seconds * 1000),
      ]),
      shrinks: PLAYBOOK_COLUMN,
      paint: (cell, column) => (column === STATUS_COLUMN ? painted(cell, terminal.style) : cell),
    },
    terminal,
  )

const painted = (cell: string, style: Style): string => {
  const status = cell.trim()
  if (status === 'COMPLETED') return style.green(cell)
  if (status === 'FAILED') return style.red(cell)
  return status === 'RUNNING' ? style.cyan(cell) : style.yellow(cell)
}
