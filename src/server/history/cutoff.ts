/** The place in a log that a request means. */
import type { Cutoff } from '../../contract/api-history.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { readExecution } from '../../store/executions.ts'
import { findExactPosition, findPositionAt } from '../../store/log-positions.ts'
import type { Core } from '../core.ts'

export const demandRow = async (core: Core, executionId: string): Promise<ExecutionRow> => {
  const row = await readExecution(core.shards.of(executionId), executionId)
  if (!row) throw new ProblemError('not_found', `Execution not found: ${executionId}`)
  return row
}

/** The position of the cutoff; the last one when there is none. A position beyond the end is the end. */
export const positionOf = async (core: Core, row: ExecutionRow, cutoff: Cutoff): Promise<number> => {
  const { as_of_event_id: eventId, as_of_position: position, as_of_time: time } = cutoff
  if ([eventId, position, time].filter((given) => given !== undefined).length > 1)
    throw new ProblemError(
      'invalid',
      'Give one of as_of_event_id, as_of_position and as_of_time, not several',
    )
  const { execution_id: id, version: last } = row
  const database = core.shards.of(id)
  if (position !== undefined) return Math.min(position, last)
  if (eventId !== undefined) {
    const found = await findExactPosition(database, id, eventId, last)
    if (found === null) throw new ProblemError('not_found', `Execution ${id} has no event ${eventId}`)
    return found
  }
  if (time === undefined) return last
  const found = await findPositionAt(database, id, time, last)
  if (found === 0)
    throw new ProblemError('not_found', `Execution ${id} started at ${row.started_at}, after ${time}`)
  return found
}
