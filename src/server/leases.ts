/**
 * Leases: the row says who may work, the log records it. A lease is first taken on the row, then recorded through
 * the execution's mailbox; a worker gets the command only after both. A server that dies in between leaves a lease
 * that runs out. One that is held up in between, for longer than the lease, hands nothing out: others have it by then.
 */
import type { ControlPlane, HeartbeatStatus, LeasedCommand, LeaseKey } from '../contract/command.ts'
import { EVENT } from '../contract/event.ts'
import type { ReportInput } from '../engine/input.ts'
import { ResultMissing } from '../engine/reference.ts'
import type { State } from '../engine/state.ts'
import type { LeasedRow } from '../store/commands.ts'
import { extendLeases, leaseCommand, leaseCommands, readCommand } from '../store/commands.ts'
import type { Database } from '../store/database.ts'
import { findFirst } from '../store/shards.ts'
import { LONG_LEASE_SECONDS } from './build-append.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import type { LeaseWatch } from './lease-watch.ts'
import { watchExecutions } from './lease-watch.ts'
import { readIssued, toLeasedCommand } from './leased-command.ts'
import { ProblemError } from '../contract/problem.ts'

/** Waiting commands are looked for at least this often, also when every wake-up is lost. */
const POLL_MS = 1000
/** Nobody waits longer than this part of a lease for the answer to a heartbeat: the next one has to come in time. */
const WAITED_PART_OF_LEASE = 1 / 4

type LeaseRequest = Parameters<ControlPlane['lease']>[0] & { readonly signal: AbortSignal }

/** A command with the instant its lease ends unless it is extended. */
export interface Leased extends LeasedCommand {
  readonly leaseUntil: string | null
}

/** How long the answer to a heartbeat may be held back for something to be taken away. */
export interface HeartbeatWait {
  readonly waitMs: number
  readonly signal: AbortSignal
}

export interface Leases {
  lease(request: LeaseRequest): Promise<readonly Leased[]>
  /** Claims one command by the id of its command.issued event. */
  claim(eventId: string, workerId: string): Promise<Leased>
  /** Extends the leases. With a wait, the answer comes when one of them is cancelled, else when the time is over. */
  heartbeat(
    workerId: string,
    leases: readonly LeaseKey[],
    wait?: HeartbeatWait,
  ): Promise<readonly HeartbeatStatus[]>
  release(leases: readonly LeaseKey[]): Promise<void>
}

export const createLeases = (core: Core): Leases => {
  const { shards, dispatcher, leaseSeconds } = core

  /** Records a lease taken on a row; null when the execution has moved on meanwhile. */
  const record = async (database: Database, row: LeasedRow, workerId: string): Promise<Leased | null> => {
    const [{ reply, state }, issued] = await Promise.all([
      core.tell(row.execution_id, {
        type: 'claim',
        commandId: row.command_id,
        workerId,
        leaseToken: row.lease_token,
      }),
      readIssued(core, database, row).catch(onlyIfMissing),
    ])
    if (reply.ok && issued instanceof ResultMissing) {
      await core.tell(row.execution_id, contextLost(row, workerId, issued))
      return null
    }
    if (reply.ok && issued && !(issued instanceof ResultMissing)) {
      const attempt = state?.commands.get(row.command_id)?.attempt ?? row.attempt
      return {
        ...toLeasedCommand(issued, { commandId: row.command_id, leaseToken: row.lease_token, attempt }),
        leaseUntil: row.lease_until,
      }
    }
    if (!reply.ok && reply.problem.code === 'conflict')
      await dismissLostHolder(database, row, workerId, state)
    return null
  }

  /**
   * The log names another holder. If the row is still ours, that holder's lease ran out before it was recorded; it
   * is released, which puts the row back into the queue. Else somebody took the command over in the meantime.
   */
  const dismissLostHolder = async (
    database: Database,
    row: LeasedRow,
    workerId: string,
    state: State | null,
  ): Promise<void> => {
    const now = await readCommand(database, row.event_id)
    if (now?.status !== 'CLAIMED' || now.worker_id !== workerId || now.lease_token !== row.lease_token) return
    const leaseToken = state?.commands.get(row.command_id)?.leaseToken ?? null
    await core.tell(row.execution_id, {
      type: 'release',
      commandId: row.command_id,
      leaseToken,
      reason: 'lease_expired',
    })
  }

  /** What was leased reaches its worker, whatever fails beside it: a lease that nobody hears of costs an attempt. */
  const leaseNow = async ({
    pool,
    workerId,
    max,
    capabilities = [],
  }: LeaseRequest): Promise<readonly Leased[]> => {
    const found: Leased[] = []
    const failures: unknown[] = []
    for (const database of shards.all) {
      if (found.length >= max) break
      const wanted = { pool, workerId, capabilities, max: max - found.length, leaseSeconds }
      const overAt = performance.now() + leaseSeconds * 1000
      const recorded = await leaseCommands(database, wanted).then(
        (rows) => Promise.allSettled(rows.map((row) => record(database, row, workerId))),
        (error: unknown) => void failures.push(error),
      )
      for (const outcome of recorded ?? []) {
        if (outcome.status === 'rejected') failures.push(outcome.reason)
        else if (outcome.value && performance.now() < overAt) found.push(outcome.value)
      }
    }
    if (found.length === 0 && failures.length > 0) throw failures[0]
    for (const error of failures) core.log.error({ error }, 'not every waiting command could be leased')
    return found
  }

  const extend = async (
    workerId: string,
    leases: readonly LeaseKey[],
  ): Promise<readonly HeartbeatStatus[]> => {
    const byShard = Map.groupBy(
      leases.map((lease, index) => ({ lease, index })),
      ({ lease }) => shards.of(lease.executionId),
    )
    const answers: HeartbeatStatus[] = leases.map(() => 'lost')
    for (const [database, group] of byShard) {
      const statuses = await extendLeases(database, {
        workerId,
        leases: group.map(({ lease }) => lease),
        leaseSeconds,
      })
      for (const [nth, { index }] of group.entries()) answers[index] = heartbeatStatus(statuses[nth] ?? null)
    }
    return answers
  }

  /** Whoever is not told at once is told of a cancel only: what is lost later on may have been reported just now. */
  const extendUntilCancelled = async (
    workerId: string,
    leases: readonly LeaseKey[],
    watch: LeaseWatch,
    { waitMs, signal }: HeartbeatWait,
  ): Promise<readonly HeartbeatStatus[]> => {
    const deadline = performance.now() + Math.min(waitMs, leaseSeconds * 1000 * WAITED_PART_OF_LEASE)
    let statuses = await extend(workerId, leases)
    if (statuses.some((status) => status !== 'ok')) return statuses
    while (!statuses.includes('cancelled') && (await watch.untilEnd(deadline - performance.now(), signal)))
      statuses = await extend(workerId, leases)
    return statuses
  }

  return {
    lease: async (request) => {
      const deadline = performance.now() + request.waitMs
      for (;;) {
        if (request.signal.aborted) return []
        // Listen before looking: work that arrives in between must not be missed.
        const listening = new AbortController()
        const stop = (): void => listening.abort()
        request.signal.addEventListener('abort', stop)
        try {
          const left = deadline - performance.now()
          const woken = dispatcher.wait(request.pool, Math.max(0, Math.min(POLL_MS, left)), listening.signal)
          const found = await leaseNow(request)
          if (found.length > 0 || left <= 0) return found
          await woken
        } finally {
          request.signal.removeEventListener('abort', stop)
          listening.abort()
        }
      }
    },
    claim: async (eventId, workerId) => {
      const database = await findFirst(shards, async (candidate) =>
        (await readCommand(candidate, eventId)) ? candidate : null,
      )
      if (!database) throw new ProblemError('not_found', `command.issued event not found: ${eventId}`)
      const row = await leaseCommand(database, { eventId, workerId, leaseSeconds: LONG_LEASE_SECONDS })
      return (
        (row && (await record(database, row, workerId))) ?? (await reclaim(core, database, eventId, workerId))
      )
    },
    heartbeat: async (workerId, leases, wait) => {
      if (!wait || wait.waitMs === 0 || leases.length === 0) return extend(workerId, leases)
      // Listen before looking: a cancel in between must not be missed.
      const watch = watchExecutions(core, new Set(leases.map(({ executionId }) => executionId)))
      try {
        return await extendUntilCancelled(workerId, leases, watch, wait)
      } finally {
        watch.close()
      }
    },
    release: async (leases) => {
      await Promise.all(
        leases.map(async ({ executionId, eventId, leaseToken }) => {
          const row = await readCommand(shards.of(executionId), eventId)
          if (!row) return
          const { reply } = await core.tell(executionId, {
            type: 'release',
            commandId: row.command_id,
            leaseToken,
            reason: 'handed_back',
          })
          // A lease that is not held any more needs no handing back.
          if (!reply.ok && reply.problem.code !== 'lease_lost' && reply.problem.code !== 'already_terminal')
            throw toError(reply.problem)
        }),
      )
    },
  }
}

/** A claim of a row that is not waiting: the holder itself gets its lease again, everybody else a refusal. */
const reclaim = async (
  core: Core,
  database: Database,
  eventId: string,
  workerId: string,
): Promise<Leased> => {
  const row = await readCommand(database, eventId)
  if (row?.status === 'PENDING')
    throw new ProblemError('conflict', 'Command is being handed over; claim it again')
  if (row?.status !== 'CLAIMED') {
    const message =
      row?.status === 'CANCELLED' ? 'Execution has been cancelled' : 'Command already reached terminal state'
    throw new ProblemError('already_terminal', message)
  }
  if (row.worker_id !== workerId)
    throw new ProblemError('conflict', `Command already claimed by ${row.worker_id ?? 'another worker'}`)
  const issued = await readIssued(core, database, row)
  if (!issued) throw new Error(`the command.issued event of command ${row.command_id} is missing`)
  const lease = { commandId: row.command_id, leaseToken: row.lease_token, attempt: row.attempt }
  return { ...toLeasedCommand(issued, lease), leaseUntil: row.lease_until }
}

const onlyIfMissing = (error: unknown): ResultMissing => {
  if (error instanceof ResultMissing) return error
  throw error
}

/** What was to be done cannot be told any more: the command fails, and the playbook may route that. */
const contextLost = (row: LeasedRow, workerId: string, { message }: ResultMissing): ReportInput => ({
  type: 'report',
  eventType: EVENT.commandFailed,
  step: '',
  commandId: row.command_id,
  leaseToken: row.lease_token,
  workerId,
  eventId: null,
  status: 'FAILED',
  context: {
    command_id: row.command_id,
    error: { kind: 'missing_reference', code: 'MISSING_REFERENCE', message, retryable: false },
  },
  reference: null,
  meta: {},
  createdAt: null,
  durationMs: null,
})

const heartbeatStatus = (status: string | null): HeartbeatStatus => {
  if (status === 'CLAIMED') return 'ok'
  return status === 'CANCELLED' ? 'cancelled' : 'lost'
}
