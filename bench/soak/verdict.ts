/** What must be true once the faults have stopped and everything had time to settle. Answers what is not. */
import type { Pool } from 'pg'
import type { Api } from './api.ts'
import { textIn } from './api.ts'
import type { Clients, Start } from './clients.ts'
import type { Effect } from './effects.ts'
import type { Listeners } from './listeners.ts'
import type { LoggedEvent, Row } from './logs.ts'
import { leaseProblems, logProblems, readLogs, readRows, readTaken } from './logs.ts'
import { SOAK_PLAYBOOKS } from './playbooks.ts'

export interface Soaked {
  readonly database: Pool
  readonly api: Api
  readonly urls: readonly string[]
  readonly clients: Clients
  readonly listeners: Listeners
  readonly effects: readonly Effect[]
}

type Logs = ReadonlyMap<string, readonly LoggedEvent[]>

export const findProblems = async (soaked: Soaked): Promise<readonly string[]> => {
  const rows = await readRows(soaked.database)
  const logs = await readLogs(soaked.database)
  const taken = await readTaken(soaked.database)
  return [
    ...soaked.clients.problems,
    ...soaked.api.internal.map((text) => `answered with 500: ${text}`),
    ...rows.flatMap((row) => ofExecution(row, logs.get(row.execution_id) ?? [], taken, soaked)),
    ...repeatedIds(logs),
    ...soaked.clients.starts.flatMap((start) => ofStart(start, rows, logs)),
    ...ofAcknowledged(soaked, logs),
    ...ofEffects(soaked, rows, logs),
    ...ofStreams(soaked, rows),
    ...(await leftOver(soaked.database)),
    ...(await ofAnswers(soaked, rows)),
  ]
}

const ofExecution = (
  row: Row,
  log: readonly LoggedEvent[],
  taken: ReadonlySet<string>,
  soaked: Soaked,
): readonly string[] => {
  const problems = [...logProblems(log), ...leaseProblems(log, taken)]
  if (row.status === 'RUNNING') problems.push('still RUNNING')
  if (row.version !== log.length) problems.push(`version ${row.version} with ${log.length} events`)
  problems.push(...statusProblems(row, log, soaked))
  return problems.map((problem) => `${row.execution_id} (${row.path}): ${problem}`)
}

/** Whether an end other than the one that the playbook describes has a reason in the log. */
const statusProblems = (row: Row, log: readonly LoggedEvent[], { clients }: Soaked): readonly string[] => {
  const { ends } = SOAK_PLAYBOOKS.find(({ path }) => path === row.path) ?? { ends: null }
  const wasGivenUp = log.some(
    ({ type, error }) => type === 'command.failed' && /given up after/.test(error ?? ''),
  )
  const wasTold = log.some(({ type }) => type === 'playbook_cancelled')
  if (ends === null || row.status === ends || row.status === 'RUNNING') return []
  if (row.status === 'CANCELLED') return wasTold ? [] : ['CANCELLED without a cancel']
  // Broken ones that were healed complete.
  if (ends === 'FAILED' || clients.reopened.has(row.execution_id) || row.origin_execution_id !== null)
    return []
  // A child that failed or took too long, or a worker that was lost three times.
  const childFailed = log.some(
    ({ type, error }) =>
      type === 'command.failed' && /Playbook soak|No answer within|given up/.test(error ?? ''),
  )
  return wasGivenUp || childFailed ? [] : [`${row.status} instead of ${ends}: ${row.error ?? ''}`]
}

const repeatedIds = (logs: Logs): readonly string[] => {
  const seen = new Map<string, string>()
  const problems: string[] = []
  for (const event of [...logs.values()].flat()) {
    const place = `${event.executionId}/${event.position}`
    const other = seen.get(event.eventId)
    if (other !== undefined) problems.push(`event id ${event.eventId} is at ${other} and at ${place}`)
    seen.set(event.eventId, place)
  }
  return problems
}

const ofStart = (start: Start, rows: readonly Row[], logs: Logs): readonly string[] => {
  const { key, answered, repeatable, origin } = start
  const problems: string[] = []
  if (answered.size > 1) problems.push(`start ${key} was answered with ${[...answered].join(' and ')}`)
  for (const id of answered)
    if (!logs.has(id)) problems.push(`start ${key} was answered with ${id}, which is lost`)
  const found =
    origin === undefined
      ? rows.filter(
          (row) =>
            row.parent_execution_id === null &&
            row.origin_execution_id === null &&
            keyOf(logs.get(row.execution_id)) === key,
        )
      : rows.filter((row) => answered.has(row.execution_id))
  const [only] = found
  if (found.length > 1)
    problems.push(`start ${key} made ${found.map((row) => row.execution_id).join(' and ')}`)
  if (found.length === 0 && (repeatable || answered.size > 0)) problems.push(`start ${key} made nothing`)
  if (only && answered.size === 1 && !answered.has(only.execution_id))
    problems.push(`start ${key} was answered with ${[...answered].join()} and made ${only.execution_id}`)
  return problems
}

const keyOf = (log: readonly LoggedEvent[] | undefined): string | null => log?.[0]?.key ?? null

const ofAcknowledged = ({ clients }: Soaked, logs: Logs): readonly string[] =>
  clients.acknowledged.flatMap(({ executionId, eventId }) => {
    const times = (logs.get(executionId) ?? []).filter((event) => event.eventId === eventId).length
    return times === 1
      ? []
      : [`event ${eventId} of ${executionId} was acknowledged and is there ${times} times`]
  })

/** Work is done once for each time it was claimed, at most; and all of it was done when the execution completed. */
const ofEffects = ({ effects, clients }: Soaked, rows: readonly Row[], logs: Logs): readonly string[] => {
  const problems: string[] = []
  const byPlace = Map.groupBy(effects, ({ executionId, step, index }) => `${executionId} ${step} ${index}`)
  for (const row of rows) {
    const log = logs.get(row.execution_id) ?? []
    const playbook = SOAK_PLAYBOOKS.find(({ path }) => path === row.path)
    if (!playbook) continue
    for (const [step, iterations] of Object.entries(playbook.effects)) {
      for (let index = 0; index < iterations; index += 1) {
        const found = byPlace.get(`${row.execution_id} ${step} ${iterations > 1 ? index : -1}`) ?? []
        const claims = claimsOf(log, step, iterations > 1 ? index : null)
        if (found.length > claims.length)
          problems.push(
            `${row.execution_id} ${step} ${index}: done ${found.length} times with ${claims.length} claims`,
          )
        const isWhole =
          row.status === 'COMPLETED' &&
          row.origin_execution_id === null &&
          !clients.reopened.has(row.execution_id)
        if (isWhole && found.length === 0) problems.push(`${row.execution_id} ${step} ${index}: never done`)
      }
    }
  }
  return problems
}

const claimsOf = (log: readonly LoggedEvent[], step: string, index: number | null): readonly LoggedEvent[] =>
  log.filter(
    ({ type, node, commandId }) =>
      type === 'command.claimed' && node === step && (index === null || commandId?.endsWith(`:i${index}`)),
  )

const ofStreams = ({ listeners }: Soaked, rows: readonly Row[]): readonly string[] => {
  const byId = new Map(rows.map((row) => [row.execution_id, row]))
  const problems: string[] = []
  for (const { executionId, positions, end } of listeners.followed) {
    const row = byId.get(executionId)
    const wrong = positions.findIndex((position, index) => position !== index + 1)
    if (wrong !== -1)
      problems.push(`stream of ${executionId} brought ${positions[wrong]} at place ${wrong + 1}`)
    if (end === null) problems.push(`stream of ${executionId} did not end`)
    // One that was opened again later has ended before.
    else if (end !== row?.status && positions.length === row?.version)
      problems.push(`stream of ${executionId} ended with ${end}, it is ${row?.status}`)
  }
  for (const row of rows) {
    const heard = listeners.heard.get(row.execution_id) ?? new Set<number>()
    const missing = Array.from({ length: row.version }, (_, index) => index + 1).filter(
      (position) => !heard.has(position),
    )
    if (missing.length > 0)
      problems.push(
        `the stream of all did not bring ${missing.join()} of ${row.version} of ${row.execution_id}`,
      )
    const status = listeners.statuses.get(row.execution_id)
    if (status !== row.status)
      problems.push(`the stream of all says ${status} of ${row.execution_id}, it is ${row.status}`)
  }
  return problems
}

/** A limit of time whose command has ended has nothing to tell and goes away when it is due. */
export const OPEN_TIMER = `not (kind = 'command_timeout' and not exists (select from noetl.command c
  where c.execution_id = t.execution_id and c.command_id = t.payload ->> 'command_id'
    and c.status in ('PENDING', 'CLAIMED', 'PARKED')))`

/** Nothing is left for executions that are over. */
const leftOver = async (database: Pool): Promise<readonly string[]> => {
  const commands = await database.query<{ text: string }>(
    `select c.command_id || ' is ' || c.status || ', its execution ' || e.status as text
     from noetl.command c join noetl.execution e using (execution_id)
     where c.status in ('PENDING', 'CLAIMED', 'PARKED') and e.status <> 'RUNNING'`,
  )
  const timers = await database.query<{ text: string }>(
    `select 'timer ' || kind || ' of ' || execution_id || ' is left, due ' || due_at as text from noetl.timer t where ${OPEN_TIMER}`,
  )
  return [...commands.rows, ...timers.rows].map(({ text }) => text)
}

/** Every server says the same, in every place. */
const ofAnswers = async ({ api, urls }: Soaked, rows: readonly Row[]): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const row of rows) {
    const expected = `${row.status} ${row.version}`
    for (const url of urls) {
      const [detail, status, check, state] = await Promise.all(
        [`?include_events=false`, '/status', '/cancellation-check', '/state'].map((path) =>
          api.insist('GET', `/api/executions/${row.execution_id}${path}`, { url }),
        ),
      )
      const told = {
        detail: `${textIn(detail?.body, 'status')} ${row.version}`,
        status: `${textIn(status?.body, 'status')} ${row.version}`,
        cancelled:
          check?.body['cancelled'] === (row.status === 'CANCELLED') ? expected : JSON.stringify(check?.body),
        state: `${textIn(state?.body, 'status')} ${textIn(state?.body, 'position')}`,
      }
      for (const [place, said] of Object.entries(told))
        if (said !== expected)
          problems.push(`${url} ${place} of ${row.execution_id}: ${said} instead of ${expected}`)
    }
  }
  return problems
}
