/** What a stored execution must look like, given its state. Whatever differs is a defect of the store or the engine. */
import type { Json } from '../contract/json.ts'
import { redact } from '../contract/sensitive.ts'
import type { State } from './state.ts'

/** The columns of an execution that follow from its log. */
export interface StoredFacts {
  readonly status: string
  readonly version: number
  readonly total_steps: number
  readonly completed_steps: number
  readonly running_steps: number
  readonly failed_steps: number
  readonly current_step: string | null
  readonly error: string | null
  readonly catalog_id: string
  readonly path: string
  readonly parent_execution_id: string | null
  readonly pool: string
  readonly origin_execution_id: string | null
  readonly origin_event: string | null
  readonly playbook_version: number | null
  readonly started_at: string | null
  readonly finished_at: string | null
}

export const factsOf = (state: State): StoredFacts => ({
  status: state.status ?? 'RUNNING',
  version: state.position,
  total_steps: state.counts.entered,
  completed_steps: state.counts.completed,
  running_steps: state.running.size,
  failed_steps: state.counts.failed,
  current_step: state.currentStep,
  error: redact(state.error) as string | null,
  catalog_id: state.catalogId,
  path: state.path,
  parent_execution_id: state.parentExecutionId,
  pool: state.pool,
  origin_execution_id: state.origin?.executionId ?? null,
  origin_event: state.origin?.eventId ?? null,
  playbook_version: state.playbookVersion,
  started_at: state.startedAt,
  finished_at: state.finishedAt,
})

export interface Difference {
  readonly message: string
  readonly stored: Json
  readonly folded: Json
}

export const compareFacts = (stored: StoredFacts, state: State): readonly Difference[] => {
  const folded = factsOf(state)
  return (Object.keys(folded) as (keyof StoredFacts)[])
    .filter((name) => stored[name] !== folded[name])
    .map((name) => ({
      message: `the column ${name} is not what the log says`,
      stored: stored[name],
      folded: folded[name],
    }))
}

export interface StoredCommand {
  readonly event_id: string
  readonly status: string
}

/**
 * The queue must have exactly the commands that the log has open, parked ones as parked. Whether one is leased is no
 * difference: the row is leased first, the log hears of it afterwards.
 */
export const compareCommands = (
  stored: readonly StoredCommand[],
  { commands }: State,
): readonly Difference[] => {
  const open = new Map(stored.map(({ event_id, status }) => [event_id, status]))
  const known = new Set<string>()
  const differences: Difference[] = []
  for (const { eventId, commandId, parked } of commands.values()) {
    known.add(eventId)
    const status = open.get(eventId) ?? null
    const isParked = status === 'PARKED'
    if (status === null || isParked !== parked)
      differences.push({
        message: `the queue does not have the command ${commandId} as the log says`,
        stored: status,
        folded: parked ? 'PARKED' : 'open',
      })
  }
  for (const [eventId, status] of open) {
    if (!known.has(eventId))
      differences.push({
        message: `the queue has the command ${eventId} open, which ended`,
        stored: status,
        folded: null,
      })
  }
  return differences
}
