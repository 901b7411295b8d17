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
 */
import type { EventRecord, ExecutionStatus } from '../contract/event.ts'
import type { JsonObject } from '../contract/json.ts'
import { redact } from '../contract/sensitive.ts'
import { storableJson } from '../lib/exact-json.ts'
import type { Sealer } from '../lib/sealer.ts'
import { APPEND_STATEMENT } from './append-statement.ts'
import type { Database } from './database.ts'
import { eventJson } from './event-row.ts'
import { isCollision } from './failure.ts'

export interface Append {
  readonly execution: ExecutionUpdate
  readonly events: readonly EventRecord[]
  readonly commands: readonly NewCommand[]
  readonly changes: readonly CommandUpdate[]
  readonly timers: readonly TimerToSet[]
}

export interface TimerToSet {
  readonly timerId: string
  readonly executionId: string
  readonly delayMs: number
  readonly kind: string
  readonly payload: JsonObject
}

export interface ExecutionUpdate {
  readonly executionId: string
  /** Version the decision was made on; 0 for a new execution. */
  readonly expectedVersion: number
  readonly version: number
  readonly status: ExecutionStatus
  readonly at: string
  readonly catalogId: string
  readonly path: string
  readonly playbookVersion: number | null
  readonly parentExecutionId: string | null
  readonly pool: string
  readonly totalSteps: number
  readonly completedSteps: number
  readonly runningSteps: number
  readonly failedSteps: number
  readonly currentStep: string | null
  readonly error: string | null
}

export interface NewCommand {
  readonly eventId: string
  readonly executionId: string
  readonly position: number
  readonly commandId: string
  readonly step: string
  readonly toolKind: string
  readonly pool: string
  readonly status: CommandUpdate['status']
  readonly attempt: number
  readonly leaseToken: string
  readonly workerId: string | null
  readonly leaseSeconds: number
}

export interface CommandUpdate {
  readonly eventId: string
  readonly executionId: string
  readonly status: 'PENDING' | 'CLAIMED' | 'PARKED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly workerId: string | null
  readonly leaseSeconds: number
}

export interface AppenderOptions {
  readonly database: Database
  readonly sealer: Sealer
  /** Statements on their way at once. */
  readonly lanes?: number
  /** Most appends in one statement. */
  readonly maxGroup?: number
  readonly onGroup?: (appends: number, milliseconds: number) => void
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

export const createAppender = ({
  database,
  sealer,
  lanes = 2,
  maxGroup = 256,
  onGroup,
}: AppenderOptions): Appender => {
  let queue: Waiting[] = []
  let busy = 0
  let idleWaiters: (() => void)[] = []

  const pump = (): void => {
    while (busy < lanes && queue.length > 0) {
      const group = queue.splice(0, maxGroup)
      busy += 1
      void flush(group).finally(() => {
        busy -= 1
        pump()
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
        sealer,
        group.map((waiting) => waiting.append),
      )
      for (const { append, resolve } of group) resolve(won.has(append.execution.executionId))
      onGroup?.(group.length, performance.now() - start)
    } catch (error) {
      const [only] = group
      if (group.length === 1 && only && !isCollision(error)) return only.reject(error)
      for (const waiting of group) await flush([waiting])
    }
  }

  // Appends of one turn of the event loop go together even when a lane is free.
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

const write = async (database: Database, sealer: Sealer, group: readonly Append[]): Promise<Set<string>> => {
  // Any order does, as long as every server has the same.
  const appends = group.toSorted((a, b) => (a.execution.executionId < b.execution.executionId ? -1 : 1))
  const { rows } = await database.query<{ execution_id: string }>({
    name: 'append',
    text: APPEND_STATEMENT,
    values: [
      storableJson(appends.map(({ execution }) => executionParameter(execution))),
      `[${appends.flatMap(({ events }) => events.map((event) => eventJson(event, sealer))).join()}]`,
      storableJson(appends.flatMap(({ commands }) => commands.map(commandParameter))),
      storableJson(appends.flatMap(({ changes }) => changes.map(changeParameter))),
      storableJson(appends.flatMap(({ timers }) => timers.map(timerParameter))),
    ],
  })
  return new Set(rows.map((row) => row.execution_id))
}

const executionParameter = (execution: ExecutionUpdate) => ({
  i: execution.executionId,
  v: execution.expectedVersion,
  n: execution.version,
  s: execution.status,
  at: execution.at,
  ts: execution.totalSteps,
  cs: execution.completedSteps,
  rs: execution.runningSteps,
  fs: execution.failedSteps,
  st: execution.currentStep ?? undefined,
  er: redact(execution.error) ?? undefined,
  ...(execution.expectedVersion === 0 ? originParameter(execution) : {}),
})

/** What is written once, with the first events. */
const originParameter = (execution: ExecutionUpdate) => ({
  c: execution.catalogId,
  p: execution.path,
  pv: execution.playbookVersion ?? undefined,
  pa: execution.parentExecutionId ?? undefined,
  po: execution.pool,
})

const commandParameter = (command: NewCommand) => ({
  e: command.eventId,
  i: command.executionId,
  p: command.position,
  c: command.commandId,
  st: command.step,
  k: command.toolKind,
  po: command.pool,
  s: command.status,
  a: command.attempt,
  lt: command.leaseToken,
  w: command.workerId,
  ls: command.leaseSeconds,
})

const changeParameter = (change: CommandUpdate) => ({
  e: change.eventId,
  i: change.executionId,
  s: change.status,
  w: change.workerId,
  ls: change.leaseSeconds,
})

const timerParameter = (timer: TimerToSet) => ({
  t: timer.timerId,
  i: timer.executionId,
  d: timer.delayMs,
  k: timer.kind,
  p: timer.payload,
})
