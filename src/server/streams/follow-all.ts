/**
 * All executions: every change of a status and, on request, every event.
 *
 * 1. Nothing that changes while a client listens is left out; what a client missed in between it gets when it comes
 *    back with the last id it got.
 * 2. A change may be told again after an interruption; `event_count` of an execution and `position` of an event tell
 *    repeats.
 * 3. The servers tell of their commits independently: a later one may be heard of first. Whoever hears of an execution for
 *    the first time tells it from where the client may not know it, so that its events come in order.
 * 4. Memory is bounded, however slow the client: when too much gathers, the stream looks for what changed instead.
 */
import type { ExecutionStatus } from '../../contract/event.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { Bell } from '../../lib/bell.ts'
import { createBell } from '../../lib/bell.ts'
import { createLru } from '../../lib/lru.ts'
import { snowflakeTime } from '../../lib/snowflake.ts'
import { readEvents } from '../../store/events.ts'
import { listChangedSince, listRunningBelow, readExecutions } from '../../store/execution-changes.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { findPositionAt } from '../../store/log-positions.ts'
import { changesOf } from '../changes.ts'
import type { Core } from '../core.ts'
import { eventItem, executionItem } from '../execution-answers.ts'
import type { Cursor } from './cursor.ts'
import { createCursors, cursorText, readCursor, sinceOf } from './cursor.ts'
import type { EventStream } from './event-stream.ts'
import type { OpenStream } from './serve-stream.ts'
import { KEEP_ALIVE_MS } from './event-stream.ts'

export interface AllFilter {
  readonly events: boolean
  /** Part of the path, in lower case; null for all. */
  readonly path: string | null
  /** Null for all. */
  readonly statuses: ReadonlySet<ExecutionStatus> | null
}

/** How often to look where changes of other servers are not told. */
const LOOK_MS = 5000
const PAGE = 500
/** Executions whose changes wait to be told. */
const MAX_WAITING = 10_000
/** Executions of which the stream remembers what it told last. */
const MAX_TOLD = 20_000
/** The cursor is renewed this often at most. */
const CURSOR_MS = 1000

interface Told {
  readonly status: ExecutionStatus
  readonly position: number
}

export const followAll = async (
  core: Core,
  filter: AllFilter,
  resume: Cursor | null,
  open: OpenStream,
): Promise<void> => {
  const bell = createBell()
  const waiting = createWaiting(bell.ring)
  // Watched first: what changes while the cursor is read must not be missed.
  const unwatch = changesOf(core).watchAll(waiting.add)
  try {
    const now = await readCursor(core.shards)
    const stream = open()
    stream.gone.addEventListener('abort', bell.ring)
    await stream.place(cursorText(resume ?? now))
    if (resume) waiting.add(null, 0)
    const following = { bell, waiting, from: resume ?? now, earliest: resume ? 0 : now.at }
    await tellChanges(core, filter, following, stream)
  } finally {
    unwatch()
    bell.ring()
  }
}

interface Following {
  readonly bell: Bell
  readonly waiting: Waiting
  readonly from: Cursor
  /** Nothing before this instant was asked for. */
  readonly earliest: number
}

/** Until the client is gone. */
const tellChanges = async (
  core: Core,
  filter: AllFilter,
  { bell, waiting, from, earliest }: Following,
  stream: EventStream,
): Promise<void> => {
  const { shards } = core
  const changes = changesOf(core)
  const told = createLru<string, Told>(MAX_TOLD)
  /** Everything before it was told to this client. */
  let cursor = from
  const cursorAfter = createCursors(from)
  let cursorAt = performance.now()

  const tell = async (row: ExecutionRow, first: number | null): Promise<void> => {
    if (!matches(row, filter)) return
    const last = told.get(row.execution_id)
    const id = cursorText(cursor)
    let position = row.version
    if (filter.events)
      position = await tellEvents(core, row, await positionBefore(row, first, last), stream, id)
    // The log is told before its end.
    if (last?.status !== row.status)
      await stream.send({ name: 'status', data: executionItem(row, Date.now()), id })
    told.set(row.execution_id, { status: row.status, position })
  }

  /** The position after which the client may not have heard the events of an execution (3). */
  const positionBefore = async (
    row: ExecutionRow,
    first: number | null,
    last: Told | undefined,
  ): Promise<number> => {
    const { execution_id: executionId, version } = row
    if (last) return last.position
    const since = Math.max(sinceOf(cursor), earliest)
    if (first === 1 || snowflakeTime(executionId) >= since) return 0
    const told = await findPositionAt(shards.of(executionId), executionId, isoOf(since), version)
    return first === null ? told : Math.min(first - 1, told)
  }

  const tellWaiting = async (changed: ReadonlyMap<string, number>): Promise<void> => {
    for (const [database, ids] of Map.groupBy(changed.keys(), (id) => shards.of(id)))
      for (const row of await readExecutions(database, ids))
        if (!stream.gone.aborted) await tell(row, changed.get(row.execution_id) ?? null)
  }

  const tellMissed = async (): Promise<void> => {
    for (const database of shards.all) {
      let from = cursor.oldest
      const below = { since: isoOf(sinceOf(cursor)), from, limit: MAX_WAITING }
      for (const row of await listRunningBelow(database, below))
        if (!stream.gone.aborted) await tell(row, null)
      for (;;) {
        const rows = await listChangedSince(database, { since: isoOf(sinceOf(cursor)), from, limit: PAGE })
        for (const row of rows) if (!stream.gone.aborted) await tell(row, null)
        const last = rows.at(-1)
        if (!last || rows.length < PAGE || stream.gone.aborted) break
        from = String(BigInt(last.execution_id) + 1n)
      }
    }
  }

  while (!stream.gone.aborted) {
    const hears = changes.hearsOthers()
    // Listen before looking: what happens in between must not be missed.
    const rung = bell.next(hears ? KEEP_ALIVE_MS : LOOK_MS)
    const { changed, missed } = waiting.take()
    const isOld = performance.now() - cursorAt >= CURSOR_MS
    const next = missed || isOld ? await readCursor(shards) : null
    if (missed || (!hears && isOld && changed.size === 0)) await tellMissed()
    else if (changed.size > 0) await tellWaiting(changed)
    if (next) {
      cursor = cursorAfter(next)
      cursorAt = performance.now()
    }
    await stream.keepAlive(cursorText(cursor))
    if (!stream.gone.aborted) await rung
  }
}

const isoOf = (instant: number): string => new Date(instant).toISOString()

const matches = ({ path, status }: ExecutionRow, filter: AllFilter): boolean =>
  (filter.path === null || path.toLowerCase().includes(filter.path)) &&
  (filter.statuses === null || filter.statuses.has(status))

/** Tells the events after a position; answers the position of the last one. */
const tellEvents = async (
  core: Core,
  { execution_id: executionId }: ExecutionRow,
  after: number,
  stream: EventStream,
  id: string,
): Promise<number> => {
  let position = after
  for (;;) {
    const events = await readEvents(core.shards.of(executionId), executionId, {
      after: position,
      limit: PAGE,
    })
    for (const event of events) {
      if (stream.gone.aborted) return position
      position = event.position
      const data = { execution_id: rawInteger(executionId), ...eventItem(event) }
      await stream.send({ name: 'event', data, id })
    }
    if (events.length < PAGE) return position
  }
}

interface Waiting {
  add(executionId: string | null, position: number): void
  /** What gathered; nothing is left. `missed`: more than is known. */
  take(): { readonly changed: ReadonlyMap<string, number>; readonly missed: boolean }
}

const createWaiting = (ring: () => void): Waiting => {
  let changed = new Map<string, number>()
  let missed = false
  return {
    add: (executionId, position) => {
      if (executionId === null || changed.size >= MAX_WAITING) {
        missed = true
        changed.clear()
      } else if (!missed) {
        const known = changed.get(executionId)
        if (known === undefined || position < known) changed.set(executionId, position)
      }
      ring()
    },
    take: () => {
      const taken = { changed, missed }
      changed = new Map()
      missed = false
      return taken
    },
  }
}
