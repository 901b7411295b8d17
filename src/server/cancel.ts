/**
 * Cancelling an execution and, unless told otherwise, everything below it.
 *
 * 1. That the others shall follow is written with the cancel: a server that dies on the way is replaced within seconds (`cascade.ts`).
 * 2. An execution that is started below one that was cancelled is cancelled, too, unless that cancel spared what was below.
 * 3. Cancelling again what was cancelled before cancels what is left below it; it is refused only when nothing is.
 */
import { ProblemError } from '../contract/problem.ts'
import { TAKE_OVER_MS } from '../engine/cancel.ts'
import { readExecution } from '../store/executions.ts'
import { deleteTimersOf, insertTimer } from '../store/timers.ts'
import { BATCH, cancelBelow, listCancels, wholeReason } from './cascade.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'

/** Ids of the executions that were cancelled, the given one first (unless it was cancelled before). A refusal of it is thrown as a ProblemError. */
export const cancelExecution = async (
  core: Core,
  executionId: string,
  { reason, cascade }: { readonly reason: string | null; readonly cascade: boolean },
): Promise<readonly string[]> => {
  const { reply, state } = await core.tell(executionId, { type: 'cancel', reason, cascade })
  if (!reply.ok && !(cascade && state?.status === 'CANCELLED')) throw toError(reply.problem)
  const cancelled = reply.ok ? [executionId] : []
  if (cascade)
    await cancelBelow(core, {
      executionId,
      reason,
      eventId: reply.ok ? reply.eventId : await intendAgain(core, executionId),
      startedBefore: null,
      cancelled: (id) => cancelled.push(id),
    })
  if (!reply.ok && cancelled.length === 0) throw toError(reply.problem)
  return cancelled
}

/** The execution is over already: its log says nothing of what is wanted now. Answers what the intention is known by. */
const intendAgain = async (core: Core, executionId: string): Promise<string> => {
  const database = core.shards.of(executionId)
  const row = await readExecution(database, executionId)
  const [last] = row ? await listCancels(core, executionId, row.version) : []
  const eventId = last?.eventId ?? core.nextId()
  await insertTimer(database, {
    timerId: core.nextId(),
    executionId,
    kind: 'cancel_children',
    delayMs: TAKE_OVER_MS,
    payload: { event_id: eventId },
  })
  return eventId
}

/**
 * For whoever just started a child, or finds that nobody looked since: its parent may have been cancelled while that was
 * under way.
 */
export const followParent = async (core: Core, childId: string, parentId: string): Promise<void> => {
  const above = await cancelAbove(core, parentId)
  // The child may be over already; then there is nothing to cancel.
  if (above) await cancelIfRunning(core, childId, above.reason)
  await deleteTimersOf(core.shards.of(childId), {
    executionId: childId,
    kind: 'follow_parent',
    eventId: null,
  })
}

/** Executions do not nest that deep. */
const MAX_LEVELS = 64

/** The cancel that reaches what is below an execution; null when there is none. It goes through executions that are over. */
const cancelAbove = async (
  core: Core,
  executionId: string,
): Promise<{ readonly reason: string | null } | null> => {
  let id: string | null = executionId
  for (let level = 0; id !== null && level < MAX_LEVELS; level += 1) {
    const row: Awaited<ReturnType<typeof readExecution>> = await readExecution(core.shards.of(id), id)
    if (!row || row.status === 'RUNNING') return null
    if (row.status === 'CANCELLED') {
      const [last] = await listCancels(core, id, row.version)
      if (!last) return { reason: row.error }
      return last.meta['cascade'] === false ? null : { reason: await wholeReason(core, last) }
    }
    id = row.parent_execution_id
  }
  return null
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

const cancelIfRunning = async (core: Core, id: string, reason: string | null): Promise<readonly string[]> => {
  try {
    return await cancelExecution(core, id, { reason, cascade: true })
  } catch (error) {
    if (error instanceof ProblemError && (error.code === 'invalid' || error.code === 'not_found')) return []
    throw error
  }
}
