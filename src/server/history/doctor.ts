/**
 * Live equals replay: what is stored about executions, held against a fresh fold of their logs.
 *
 * 1. The execution row, the open commands, the timers, every snapshot and the results that are stored apart are compared with
 *    the fold from the first event.
 * 2. Executions may run while they are looked at: one that moved meanwhile is looked at again, and given up on only if
 *    it never holds still.
 * 3. Executions that run elsewhere are not ours to judge.
 */
import type { Difference } from '../../engine/audit.ts'
import { compareCommands, compareFacts } from '../../engine/audit.ts'
import { createWaits } from '../../engine/audit-log.ts'
import { evolve } from '../../engine/evolve.ts'
import { decodeState, encodeState } from '../../engine/snapshot.ts'
import { createState, isTerminal } from '../../engine/state.ts'
import type { Database } from '../../store/database.ts'
import { executionsWithoutCause, readExecution, readVersion } from '../../store/executions.ts'
import { readForFold } from '../../store/fold-events.ts'
import { listExecutionsAfter } from '../../store/execution-pages.ts'
import { listOpenCommands } from '../../store/open-work.ts'
import { listSnapshots, readSnapshot } from '../../store/snapshots.ts'
import { openSnapshot } from '../state-loader.ts'
import { examineLooseResults, examineResults } from './doctor-results.ts'
import { examineLooseTimers, examineTimers } from './doctor-timers.ts'
import type { Doctor, Examination, Finding } from './examination.ts'
import { added, NOTHING } from './examination.ts'

const ATTEMPTS = 5

export const examineExecution = async (core: Doctor, executionId: string): Promise<Examination> => {
  const database = core.shards.of(executionId)
  for (let attempt = 1; ; attempt += 1) {
    const version = await readVersion(database, executionId)
    if (version === null) return NOTHING
    const found = await examineOnce(core, database, executionId)
    // What moved while it was looked at may only seem to differ.
    const isSettled = (await readVersion(database, executionId)) === version
    if (isSettled || attempt >= ATTEMPTS || found.differences.length === 0)
      return isSettled ? found : { ...found, differences: [] }
  }
}

const examineOnce = async (core: Doctor, database: Database, executionId: string): Promise<Examination> => {
  const row = await readExecution(database, executionId)
  if (!row) return NOTHING
  const due = [...(await listSnapshots(database, executionId))]
  const findings: Finding[] = []
  const note = (kind: Finding['kind'], differences: readonly Difference[]): void => {
    findings.push(...differences.map((difference) => ({ execution_id: executionId, kind, ...difference })))
  }
  const state = createState(executionId)
  const waits = createWaits()
  const results = examineResults(database, executionId)
  let snapshots = 0
  const range = { after: 0, upTo: row.version, sealer: core.sealer }
  for await (const events of readForFold(database, executionId, range)) {
    if (state.position === 0 && events[0]?.meta['imported'] === true) return NOTHING
    for (const event of events) {
      if (event.position !== state.position + 1) note('log', [gap(state.position + 1, event.position)])
      results.see(event, isTerminal(state))
      evolve(state, event)
      waits.see(event, state)
      while (due[0] && due[0].position <= state.position) {
        const { position } = due.shift() ?? { position: 0 }
        snapshots += 1
        if (position === state.position) note('snapshot', await compareSnapshot(core, database, state))
      }
    }
    if (!row.imported) await results.look(state.position)
  }
  note('row', compareFacts(row, state))
  const examined = { ...NOTHING, checked: 1, events: state.position, snapshots, differences: findings }
  // What was imported is only shown: it has no commands here, and its results are those that came along.
  if (row.imported) return examined
  note('commands', compareCommands(await listOpenCommands(database, executionId), state))
  return added(
    added(examined, await examineTimers(core, database, state, waits)),
    await results.finish(isTerminal(state)),
  )
}

const gap = (expected: number, found: number): Difference => ({
  message: 'the log has a gap',
  stored: found,
  folded: expected,
})

const compareSnapshot = async (
  core: Doctor,
  database: Database,
  state: ReturnType<typeof createState>,
): Promise<readonly Difference[]> => {
  const { executionId, position } = state
  const stored = await readSnapshot(database, executionId, position)
  if (stored?.position !== position) return []
  const message = `the snapshot at position ${position}`
  try {
    const restored = decodeState(openSnapshot(stored, core.sealer))
    // Of another format: nobody reads it.
    if (restored === null || encodeState(restored) === encodeState(state)) return []
    return [{ message: `${message} is not the fold up to there`, stored: null, folded: null }]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [{ message: `${message} cannot be read: ${reason}`, stored: null, folded: null }]
  }
}

/** A page of all executions, in the order of their ids, over all databases. */
export const examinePage = async (
  core: Doctor,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Examination & { readonly next: string | null }> => {
  const pages = await Promise.all(
    core.shards.all.map((database) => listExecutionsAfter(database, after ?? '-9223372036854775808', limit)),
  )
  const ids = pages
    .flat()
    .sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
    .slice(0, limit)
  let sum = NOTHING
  for (const id of ids) sum = added(sum, await examineExecution(core, id))
  if (after === null) {
    for (const look of [withoutCause, examineLooseTimers, examineLooseResults])
      sum = added(sum, await look(core))
  }
  return { ...sum, next: ids.length === limit ? (ids.at(-1) ?? null) : null }
}

const SHOWN_STUCK = 100

/** Executions that are not over and that nothing moves. Asked twice: one may be between two statements. */
const withoutCause = async (core: Doctor): Promise<Partial<Examination>> => {
  const ask = async (): Promise<readonly string[]> =>
    (
      await Promise.all(core.shards.all.map((database) => executionsWithoutCause(database, SHOWN_STUCK)))
    ).flat()
  const first = await ask()
  const stuck = first.length === 0 ? [] : (await ask()).filter((id) => first.includes(id))
  return {
    differences: stuck.map((execution_id) => ({
      execution_id,
      kind: 'no_cause',
      message: 'it is not over and nothing moves it: no open command, no timer',
      stored: 'RUNNING',
      folded: null,
    })),
  }
}
