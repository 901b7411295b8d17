/**
 * Cancelling an execution and, unless told otherwise, everything below it.
 *
 * 1. Parents first: an execution that is over starts no more children, so none is missed. One that is being started at
 *    that very moment is cancelled by whoever starts it (`cancelWithParent`).
 * 2. A descendant is found through parents that are over, too. One that ended meanwhile is left alone.
 * 3. Cancelling again what was cancelled before finishes what a server that died left undone; it is refused only when
 *    nothing is left to cancel.
 */
import { ProblemError } from '../contract/problem.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import { listChildren, readExecution } from '../store/executions.ts'

/** Cancellations under way at once. */
const BATCH = 50

/** Ids of the executions that were cancelled, the given one first (unless it was cancelled before). A refusal of it is thrown as a ProblemError. */
export const cancelExecution = async (
  core: Core,
  executionId: string,
  { reason, cascade }: { readonly reason: string | null; readonly cascade: boolean },
): Promise<readonly string[]> => {
  const { reply, state } = await core.tell(executionId, { type: 'cancel', reason })
  if (!reply.ok && !(cascade && state?.status === 'CANCELLED')) throw toError(reply.problem)
  const cancelled = reply.ok ? [executionId] : []
  const seen = new Set([executionId])
  for (let level: readonly string[] = cascade ? [executionId] : []; level.length > 0;) {
    const found = await Promise.all(core.shards.all.map((database) => listChildren(database, level)))
    const children = found.flat().filter(({ execution_id }) => !seen.has(execution_id))
    for (const { execution_id } of children) seen.add(execution_id)
    const running = children.filter(({ status }) => status === 'RUNNING')
    cancelled.push(
      ...(await cancelAll(
        core,
        running.map(({ execution_id }) => execution_id),
        reason,
      )),
    )
    level = children.map(({ execution_id }) => execution_id)
  }
  if (!reply.ok && cancelled.length === 0) throw toError(reply.problem)
  return cancelled
}

/** For whoever just started a child: its parent may have been cancelled while that was under way. */
export const cancelWithParent = async (core: Core, childId: string, parentId: string): Promise<void> => {
  const parent = await readExecution(core.shards.of(parentId), parentId)
  // The child may be over already; then there is nothing to cancel.
  if (parent?.status === 'CANCELLED') await core.tell(childId, { type: 'cancel', reason: parent.error })
}

const cancelAll = async (
  core: Core,
  ids: readonly string[],
  reason: string | null,
): Promise<readonly string[]> => {
  const cancelled: string[] = []
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = ids.slice(from, from + BATCH)
    const told = await Promise.all(batch.map((id) => core.tell(id, { type: 'cancel', reason })))
    for (const [index, { reply }] of told.entries()) {
      if (reply.ok) cancelled.push(batch[index] ?? '')
      // Refused as invalid: it ended before it was told.
      else if (reply.problem.code !== 'invalid') throw toError(reply.problem)
    }
  }
  return cancelled
}

/** Cancels several executions and everything below them; answers all that were cancelled. Those that ended meanwhile are left alone. */
export const cancelExecutions = async (
  core: Core,
  ids: readonly string[],
  reason: string,
): Promise<readonly string[]> => {
  const cancelled = new Set<string>()
  for (let from = 0; from < ids.length; from += BATCH) {
    const done = await Promise.all(
      ids.slice(from, from + BATCH).map((id) => cancelIfRunning(core, id, reason)),
    )
    for (const id of done.flat()) cancelled.add(id)
  }
  return [...cancelled]
}

const cancelIfRunning = async (core: Core, id: string, reason: string): Promise<readonly string[]> => {
  try {
    return await cancelExecution(core, id, { reason, cascade: true })
  } catch (error) {
    if (error instanceof ProblemError && (error.code === 'invalid' || error.code === 'not_found')) return []
    throw error
  }
}
