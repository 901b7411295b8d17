/** Everything that can happen to an execution, as the engine is told of it. */
import type { ExecutionStatus } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Problem } from '../contract/problem.ts'
import type { Seed } from './fork-state.ts'
import type { Origin } from './state.ts'

export type Input = Signed & Asked

/** Who asked for it, where somebody did: written beside the event that records the input, and deciding nothing. */
export interface Signed {
  readonly actor?: string
}

type Asked =
  | StartInput
  | ClaimInput
  | ReleaseInput
  | ReportInput
  | ChildInput
  | TimeoutInput
  | VariablesInput
  | ReopenInput
  | CancelInput
  | FinalizeInput

export interface StartInput {
  readonly type: 'start'
  readonly catalogId: string
  readonly path: string
  readonly version: number | null
  /** Overrides of the playbook's workload, key by key. */
  readonly payload: JsonObject
  readonly parentExecutionId: string | null
  /** The parent's command that waits for the end of this execution. */
  readonly parentCommandId?: string | null
  /** How many executions stand above this one. */
  readonly depth?: number
  /** Worker pool of the execution's commands. */
  readonly pool: string
  readonly trace: Json
  /** The execution this one is a rerun of. */
  readonly origin?: Origin | null
  /** What is taken over from it; without one everything runs. */
  readonly seed?: Seed | null
  /** Variables to begin with. */
  readonly variables?: JsonObject
}

/** A worker holds the lease of a command. */
export interface ClaimInput {
  readonly type: 'claim'
  readonly commandId: string
  readonly workerId: string
  readonly leaseToken: string
}

/** The lease of a command ended without a report. */
export interface ReleaseInput {
  readonly type: 'release'
  readonly commandId: string
  /** Only the lease with this token is released; null releases whichever is current. */
  readonly leaseToken: string | null
  /** Leases with this token and larger ones are left alone: they were given after the one that ran out. */
  readonly before?: string
  readonly reason: 'lease_expired' | 'handed_back'
}

/** An event from a worker or another client. */
export interface ReportInput {
  readonly type: 'report'
  readonly eventType: string
  readonly step: string
  readonly commandId: string | null
  readonly leaseToken: string | null
  readonly workerId: string | null
  /** Given by the sender to make repeats recognisable. */
  readonly eventId: string | null
  readonly status: string | null
  readonly context: Json
  readonly reference: JsonObject | null
  readonly meta: JsonObject
  readonly createdAt: string | null
  readonly durationMs: number | null
}

/** A child that a command waits for has ended. */
export interface ChildInput {
  readonly type: 'child'
  readonly commandId: string
  readonly childId: string
  readonly path: string
  readonly status: ExecutionStatus
  /** The data of the command, should the child have completed. */
  readonly data: Json
  readonly error: string | null
}

/** The time of a parked command is over. */
export interface TimeoutInput {
  readonly type: 'timeout'
  readonly commandId: string
  readonly timeoutMs: number
}

/** Variables written from outside. */
export interface VariablesInput {
  readonly type: 'variables'
  readonly values: JsonObject
  readonly source: string
}

/** An execution that is over shall go on. */
export interface ReopenInput {
  readonly type: 'reopen'
  /** Which of the failed steps run again; null for all of them. */
  readonly steps: readonly string[] | null
  readonly variables: JsonObject
  readonly reason: string | null
}

export interface CancelInput {
  readonly type: 'cancel'
  readonly reason: string | null
  /**
   * True: everything below shall be cancelled, too, and a timer says so until it is. False: what is below is spared. Without it
   * whoever tells this one sees to the others.
   */
  readonly cascade?: boolean
}

export interface FinalizeInput {
  readonly type: 'finalize'
  readonly status: Extract<ExecutionStatus, 'COMPLETED' | 'FAILED'>
  readonly error: string | null
}

export interface Accepted {
  readonly ok: true
  /** The event that recorded the input. */
  readonly eventId: string
  /** True when the input was known already and nothing was written. */
  readonly duplicate: boolean
}

export type Reply = Accepted | { readonly ok: false; readonly problem: Problem }

export const accepted = (eventId: string): Accepted => ({ ok: true, eventId, duplicate: false })
export const known = (eventId: string): Accepted => ({ ok: true, eventId, duplicate: true })
export const refused = (code: Problem['code'], message: string): Reply => ({
  ok: false,
  problem: { code, message },
})
