/**
 * Group commit. While one statement is on its way the next appends gather, from all executions, and go together;
 * the busier the server, the larger the groups.
 *
 * 1. An append is durable when its promise resolves with true. False: somebody else changed the execution first,
 *    and nothing of the append was written.
 * 2. A statement that fails is repeated append by append, so that only the culprit fails.
 * 3. At most one append of an execution is under way at a time; callers see to that (the mailbox does).
 * 4. Rows are locked in one order everywhere, so that servers that write the same executions rarely block each
 *    other crosswise; when they do, the append is tried again.
 * 5. A group takes no more than its lane's share of all that waits or is on its way. A lane that took everything would
 *    leave nothing to the others: the database would rest while the server decides what follows, and the other way round.
 */
import type { Sealer } from '../lib/sealer.ts'
import type { Append } from './append.ts'
import type { Mirror } from './append-mirror.ts'
import { mirrorPart } from './append-mirror.ts'
import type { AppendPart } from './append-parts.ts'
import { appendStatement } from './append-statement.ts'
import type { Database } from './database.ts'
import { isCollision } from './failure.ts'

export interface AppenderOptions {
  readonly database: Database
  readonly sealer: Sealer
  /** Statements on their way at once. */
  readonly lanes?: number
  /** Most appends in one statement. */
  readonly maxGroup?: number
  readonly onGroup?: (appends: number, milliseconds: number) => void
  /** Also writes what others are told of the events. */
  readonly mirror?: Mirror
}

export interface Appender {
  append(append: Append): Promise<boolean>
  /** Resolves when nothing is on its way. */
  idle(): Promise<void>
}

interface Waiting {
  readonly append: Append
  readonly resolve: (won: boolean) => void
  readonly reject: (error: unknown) => void
}

/** Splitting fewer appends costs more statements than it gains. */
const SMALLEST_SHARE = 8

export const createAppender = ({
  database,
  sealer,
  lanes = 2,
  maxGroup = 256,
  onGroup,
  mirror,
}: AppenderOptions): Appender => {
  const more = mirror ? [mirrorPart(mirror)] : []
  let queue: Waiting[] = []
  let busy = 0
  let onTheirWay = 0
  let idleWaiters: (() => void)[] = []

  const pump = (): void => {
    while (busy < lanes && queue.length > 0) {
      const share = Math.max(SMALLEST_SHARE, Math.ceil((queue.length + onTheirWay) / lanes))
      const group = queue.splice(0, Math.min(share, maxGroup))
      busy += 1
      onTheirWay += group.length
      void flush(group).finally(() => {
        busy -= 1
        onTheirWay -= group.length
        if (queue.length > 0) schedule()
        if (busy === 0 && queue.length === 0) {
          for (const resolve of idleWaiters) resolve()
          idleWaiters = []
        }
      })
    }
  }

  const flush = async (group: readonly Waiting[]): Promise<void> => {
    const start = performance.now()
    try {
      const won = await write(
        database,
        group.map((waiting) => waiting.append),
        sealer,
        more,
      )
      for (const { append, resolve } of group) resolve(won === 'all' || won.has(append.execution.executionId))
      onGroup?.(group.length, performance.now() - start)
    } catch (error) {
      const [only] = group
      if (group.length === 1 && only && !isCollision(error)) return only.reject(error)
      for (const waiting of group) await flush([waiting])
    }
  }

  // Appends of one turn of the event loop go together even when a lane is free: what follows from a group, too.
  let scheduled = false
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      pump()
    })
  }

  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        queue.push({ append, resolve, reject })
        schedule()
      }),
    idle: () =>
      busy === 0 && queue.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => idleWaiters.push(resolve)),
  }
}

const write = async (
  database: Database,
  group: readonly Append[],
  sealer: Sealer,
  more: readonly AppendPart[],
): Promise<ReadonlySet<string> | 'all'> => {
  // Any order does, as long as every server has the same.
  const appends = group.toSorted((a, b) => (a.execution.executionId < b.execution.executionId ? -1 : 1))
  const { rows } = await database.query<{ execution_id: string }>(appendStatement(appends, sealer, more))
  return rows.length === appends.length ? 'all' : new Set(rows.map((row) => row.execution_id))
}
