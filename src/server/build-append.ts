/** From what a turn decided to what the store writes. */
import type { LeasedCommand } from '../contract/command.ts'
import { CHILD_KIND } from '../engine/command.ts'
import { commandIdOf } from '../engine/envelope.ts'
import { requirementsOf } from '../engine/requirements.ts'
import type { CommandChange, Session } from '../engine/session.ts'
import type { State } from '../engine/state.ts'
import type { Append, CommandUpdate, ExecutionUpdate, NewCommand } from '../store/append.ts'

/** First lease of a command that is issued already leased. */
export const LOCAL_TOKEN = '1'

/** Lease of a worker that sends heartbeats for its commands, unless configured otherwise. */
export const DEFAULT_LEASE_SECONDS = 60
/** Lease of a worker that only sends heartbeats for itself. */
export const LONG_LEASE_SECONDS = 1800

export interface AppendOptions {
  readonly expectedVersion: number
  /** Commands issued by this turn that the worker in this process has already taken. */
  readonly local: readonly LeasedCommand[]
  readonly localWorkerId: string | null
  readonly leaseSeconds: number
}

export const buildAppend = (session: Session, options: AppendOptions): Append => {
  const { expectedVersion, local, localWorkerId, leaseSeconds } = options
  const { state, events, issued, changes } = session
  const claimedIds = new Set(local.map((command) => command.eventId))
  const last = lastChanges(changes)
  const issuedIds = new Set(issued.map((event) => event.eventId))
  return {
    execution: executionUpdate(state, expectedVersion, session.environment.now),
    events,
    commands: issued.map((event): NewCommand => {
      const claimed = claimedIds.has(event.eventId)
      const change = last.get(event.eventId)
      return {
        eventId: event.eventId,
        executionId: event.executionId,
        position: event.position,
        commandId: commandIdOf(event.meta, undefined) ?? '',
        step: event.nodeName ?? '',
        toolKind: event.nodeType ?? '',
        pool: poolOf(state, event.nodeType ?? ''),
        requires: event.nodeType === CHILD_KIND ? [] : requirementsOf(session.graph.playbook),
        status: claimed ? 'CLAIMED' : (change?.status ?? 'PENDING'),
        attempt: claimed || change?.status === 'CLAIMED' ? 1 : 0,
        leaseToken: claimed ? LOCAL_TOKEN : '0',
        workerId: claimed ? localWorkerId : (change?.workerId ?? null),
        leaseSeconds: claimed ? leaseSeconds : LONG_LEASE_SECONDS,
      }
    }),
    // A row inserted by this very statement cannot be updated by it; its status above already tells what came of it.
    changes: [...last.values()]
      .filter((change) => !issuedIds.has(change.eventId))
      .map((change) => commandUpdate(state, change)),
    timers: session.timers.map((timer) => ({ ...timer, executionId: state.executionId })),
  }
}

/** Commands that the control plane itself works on wait in a pool of their own. */
export const SERVER_POOL = 'noetl.server'

/** Not a pool of workers: whoever delivers timers waits for it. */
export const TIMER_POOL = 'noetl.timers'

export const poolOf = (state: State, toolKind: string): string =>
  toolKind === CHILD_KIND ? SERVER_POOL : state.pool

/** One row changes once per statement: the last change counts. */
const lastChanges = (changes: readonly CommandChange[]): ReadonlyMap<string, CommandChange> =>
  new Map(changes.map((change) => [change.eventId, change]))

const commandUpdate = (state: State, change: CommandChange): CommandUpdate => ({
  eventId: change.eventId,
  executionId: state.executionId,
  status: change.status,
  workerId: change.workerId ?? null,
  leaseSeconds: LONG_LEASE_SECONDS,
})

const executionUpdate = (state: State, expectedVersion: number, at: string): ExecutionUpdate => ({
  executionId: state.executionId,
  expectedVersion,
  version: state.position,
  status: state.status ?? 'RUNNING',
  at,
  catalogId: state.catalogId,
  path: state.path,
  playbookVersion: state.playbookVersion,
  parentExecutionId: state.parentExecutionId,
  originExecutionId: state.origin?.executionId ?? null,
  originEventId: state.origin?.eventId ?? null,
  pool: state.pool,
  totalSteps: state.counts.entered,
  completedSteps: state.counts.completed,
  runningSteps: state.running.size,
  failedSteps: state.counts.failed,
  currentStep: state.currentStep,
  error: state.error,
})
