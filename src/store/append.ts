/** What one turn of an execution writes. */
import type { EventRecord, ExecutionStatus } from '../contract/event.ts'
import type { JsonObject } from '../contract/json.ts'

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
  /** The execution this one is a rerun of, and the last event it took over. */
  readonly originExecutionId?: string | null
  readonly originEventId?: string | null
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
  /** What a worker must be able to do to get it. */
  readonly requires?: readonly string[]
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
