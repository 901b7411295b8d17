/**
 * Cancelling what is below an execution.
 *
 * 1. Parents first: an execution that is over starts no more children, so none is missed. One that is being started at
 *    that very moment is cancelled by whoever starts it (`followParent` in `cancel.ts`).
 * 2. A descendant is found through parents that are over, too. One that ended meanwhile is left alone.
 * 3. However many there are, a page of them at a time is in memory.
 * 4. Several servers may do it at once: who comes second finds nothing left to do.
 * 5. One that cannot be told keeps no other from being told; the intention stays, and all of it is tried again.
 * 6. The intention (`engine/cancel.ts`) is put off while somebody is at it and deleted when it is done.
 */
import type { EventRecord } from '../contract/event.ts'
import { EVENT } from '../contract/event.ts'
import { TAKE_OVER_MS } from '../engine/cancel.ts'
import type { ChildRow } from '../store/children.ts'
import { listChildrenAfter } from '../store/children.ts'
import { readEventRange, readEvents } from '../store/events.ts'
import { readExecution } from '../store/executions.ts'
import { deleteTimersOf, putOffTimersOf } from '../store/timers.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'

/** Cancellations under way at once. */
export const BATCH = 50
const PAGE = 2000
/** Deeper than executions can be nested: whatever says so is no tree. */
const MAX_LEVELS = 64
const FIRST = '-9223372036854775808'
/** Putting off for every batch would cost more than the batch. */
const PUT_OFF_EVERY_MS = TAKE_OVER_MS / 5

export interface Cascade {
  readonly executionId: string
  readonly reason: string | null
  /** Who asked for it, if that is not who asks now. */
  readonly actor?: string
  /** The cancel that the timer was set with. */
  readonly eventId: string
  /** Children that were started later are not meant: the execution was opened again. Null when it is still over. */
  readonly startedBefore: string | null
  /** Told of each one that this cascade cancelled. */
  readonly cancelled?: (executionId: string) => void
  readonly signal?: AbortSignal
}

/** Cancels everything below. Stopped by its signal it answers false and leaves the rest to another server. Throws what kept it from some. */
export const cancelBelow = async (core: Core, cascade: Cascade): Promise<boolean> => {
  const { executionId, eventId, signal } = cascade
  const database = core.shards.of(executionId)
  const timers = { executionId, kind: 'cancel_children', eventId } as const
  let putOffAt = performance.now()
  const goOn = async (): Promise<boolean> => {
    if (signal?.aborted) return false
    if (performance.now() - putOffAt > PUT_OFF_EVERY_MS) {
      putOffAt = performance.now()
      await putOffTimersOf(database, timers, TAKE_OVER_MS)
    }
    return true
  }
  const failures: unknown[] = []
  const isDone = await descend(core, { ...cascade, goOn, failures }, [executionId], 1)
  if (failures.length > 0) throw failures[0]
  await (isDone ? deleteTimersOf(database, timers) : putOffTimersOf(database, timers, 0))
  return isDone
}

interface Run extends Cascade {
  /** False when it is to be stopped. */
  readonly goOn: () => Promise<boolean>
  readonly failures: unknown[]
}

/** False when it was stopped. */
const descend = async (core: Core, run: Run, parents: readonly string[], level: number): Promise<boolean> => {
  if (level > MAX_LEVELS) return true
  for (const database of core.shards.all) {
    for (let after = FIRST; ;) {
      const page = await listChildrenAfter(database, parents, after, PAGE)
      const meant = page.filter(isMeant(run))
      const running = meant.filter(({ status }) => status === 'RUNNING')
      if (!(await cancelAll(core, run, running))) return false
      const ids = meant.map(({ execution_id }) => execution_id)
      if (ids.length > 0 && !(await descend(core, run, ids, level + 1))) return false
      if (page.length < PAGE) break
      after = page.at(-1)?.execution_id ?? after
    }
  }
  return true
}

const isMeant =
  ({ startedBefore }: Cascade) =>
  ({ execution_id }: ChildRow): boolean =>
    startedBefore === null || BigInt(execution_id) < BigInt(startedBefore)

const cancelAll = async (core: Core, run: Run, children: readonly ChildRow[]): Promise<boolean> => {
  for (let from = 0; from < children.length; from += BATCH) {
    if (!(await run.goOn())) return false
    const batch = children.slice(from, from + BATCH)
    await Promise.all(
      batch.map(({ execution_id }) =>
        cancelOne(core, run, execution_id).catch((error: unknown) => run.failures.push(error)),
      ),
    )
  }
  return true
}

const cancelOne = async (core: Core, { reason, actor, cancelled }: Run, id: string): Promise<void> => {
  const { reply } = await core.tell(id, {
    type: 'cancel',
    reason,
    ...(actor === undefined ? {} : { actor }),
  })
  if (reply.ok) cancelled?.(id)
  // Refused as invalid: it ended before it was told.
  else if (reply.problem.code !== 'invalid') throw toError(reply.problem)
}

/** Looked through for the cancel that is meant; nobody opens an execution again that often. */
const CANCELS = 20

/** Our own cancels of an execution, newest first. */
export const listCancels = (
  core: Core,
  executionId: string,
  version: number,
): Promise<readonly EventRecord[]> =>
  readEventRange(core.shards.of(executionId), executionId, {
    after: 0,
    upTo: version,
    types: [EVENT.cancelled],
    newestFirst: true,
    limit: CANCELS,
  }).then((events) => events.filter(({ meta }) => meta['emitted_by'] === 'control_plane'))

/** With its reason as it was given. */
export const wholeReason = async (core: Core, event: EventRecord): Promise<string | null> => {
  const { executionId, position } = event
  const database = core.shards.of(executionId)
  const [whole] = await readEvents(database, executionId, {
    after: position - 1,
    limit: 1,
    sealer: core.sealer,
  })
  return whole?.error ?? event.error
}

/** For whoever finds the intention of a server that is gone. False when it was stopped before the end. */
export const finishCascade = async (
  core: Core,
  executionId: string,
  eventId: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const database = core.shards.of(executionId)
  const row = await readExecution(database, executionId)
  if (!row) return true
  await putOffTimersOf(database, { executionId, kind: 'cancel_children', eventId }, TAKE_OVER_MS)
  const cancels = await listCancels(core, executionId, row.version)
  const meant = cancels.find((event) => event.eventId === eventId)
  const actor = meant?.meta['actor']
  const isStillOver = row.status === 'CANCELLED' && cancels[0] === meant
  return cancelBelow(core, {
    executionId,
    eventId,
    reason: meant ? await wholeReason(core, meant) : null,
    ...(typeof actor === 'string' ? { actor } : {}),
    startedBefore: isStillOver ? null : eventId,
    signal,
  })
}
