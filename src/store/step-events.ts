/** Where in a log a step was entered or skipped, and where the steps before it were left. */
import { EVENT } from '../contract/event.ts'
import type { Database } from './database.ts'

export interface StretchRequest {
  readonly step: string
  /** Steps with an arc to it. */
  readonly sources: readonly string[]
  /** Which activation: by the number of its run, the last one, or (null) the one that has not happened yet. */
  readonly run: number | 'last' | null
  readonly upTo: number
}

export interface Stretch {
  readonly from: number
  readonly upTo: number
}

const ACTIVATING = [EVENT.stepEnter, EVENT.stepSkipped, EVENT.stepKept, EVENT.reopened, EVENT.seeded]

/** The part of the log that decided an activation of a step, its end included. */
export const findStretch = async (
  database: Database,
  executionId: string,
  { step, sources, run, upTo }: StretchRequest,
): Promise<Stretch> => {
  const { rows } = await database.query<ActivationRow>({
    name: 'find-activations',
    text: `select position, event_type,
        (event_type <> 'step.skipped' or result_context ->> 'reason' = 'guard') as counts,
        (event_type = '${EVENT.reopened}' and coalesce((meta -> 'steps')::jsonb ? $4, false)) as again
      from noetl.event
      where execution_id = $1 and position <= $2 and event_type = any ($3) and (node_name = $4 or node_name = 'playbook')
        and meta ->> 'emitted_by' = 'orchestrator'
      order by position`,
    values: [executionId, upTo, ACTIVATING, step],
  })
  const activations = activationsOf(rows)
  const index = activationIndex(activations, run)
  // Runs are counted by the state; a number that does not fit is looked for in the whole log.
  if (index === -1 && typeof run === 'number') return { from: 1, upTo }
  const before = index === -1 ? activations.at(-1) : activations[index - 1]
  const own = index === -1 ? undefined : activations[index]
  const left = await firstLeft(database, executionId, sources, before?.position ?? 0, own?.position ?? upTo)
  const brought = rows.find(
    ({ event_type: type, position }) =>
      (type === EVENT.reopened || type === EVENT.seeded) &&
      position > (before?.position ?? 0) &&
      position <= (own?.position ?? upTo),
  )
  const from = Math.min(left ?? upTo, brought?.position ?? upTo, own?.position ?? upTo)
  return { from, upTo: own ? await endOf(database, executionId, step, own.position, upTo) : upTo }
}

interface ActivationRow {
  readonly position: number
  readonly event_type: string
  /** Whether it counts as a run. */
  readonly counts: boolean
  /** Whether it opens the execution again to run this very step. */
  readonly again: boolean
}

/** A loop that a retry goes on with is not entered again: then the retry itself is the last activation. */
const activationsOf = (rows: readonly ActivationRow[]): readonly ActivationRow[] => {
  const own = rows.filter(({ event_type: type }) => type !== EVENT.reopened && type !== EVENT.seeded)
  const last = rows.findLast(({ again }) => again)
  return last && own.length > 0 && last.position > (own.at(-1)?.position ?? 0) ? [...own, last] : own
}

const activationIndex = (
  activations: readonly { readonly counts: boolean }[],
  run: StretchRequest['run'],
): number => {
  if (run === null) return -1
  if (run === 'last') return activations.length - 1
  let runs = 0
  return activations.findIndex(({ counts }) => counts && (runs += 1) === run)
}

const firstLeft = async (
  database: Database,
  executionId: string,
  sources: readonly string[],
  after: number,
  upTo: number,
): Promise<number | null> => {
  const { rows } = await database.query<{ position: number | null }>({
    name: 'find-first-left',
    text: `select min(position) as position from noetl.event
      where execution_id = $1 and position > $2 and position <= $3 and event_type in ('step.exit', 'ctx.updated')
        and node_name = any ($4) and meta ->> 'emitted_by' = 'orchestrator'
        and (event_type = 'step.exit' or result_context ->> 'source' like 'arc:%')`,
    values: [executionId, after, upTo, sources],
  })
  return rows[0]?.position ?? null
}

/** Where the run that began at a position was left; that position itself while it was not. */
const endOf = async (
  database: Database,
  executionId: string,
  step: string,
  position: number,
  upTo: number,
): Promise<number> => {
  const { rows } = await database.query<{ position: number | null }>({
    name: 'find-exit',
    text: `select min(position) as position from noetl.event
      where execution_id = $1 and position > $2 and position <= $3 and event_type = 'step.exit' and node_name = $4
        and meta ->> 'emitted_by' = 'orchestrator'`,
    values: [executionId, position, upTo, step],
  })
  return rows[0]?.position ?? position
}

/** Where a step was entered, in order. */
export const listEntries = async (
  database: Database,
  executionId: string,
  step: string,
): Promise<readonly number[]> => {
  const { rows } = await database.query<{ position: number }>({
    name: 'list-step-entries',
    text: `select position from noetl.event
      where execution_id = $1 and event_type = '${EVENT.stepEnter}' and node_name = $2
        and meta ->> 'emitted_by' = 'orchestrator' order by position`,
    values: [executionId, step],
  })
  return rows.map((row) => row.position)
}
