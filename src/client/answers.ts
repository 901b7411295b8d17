/** What the API answers, as far as the client reads it. Ids are text, also where the wire has an integer. */
import type { EventResult, ExecutionStatus } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'

export interface Health {
  readonly status: string
  readonly database: string
  readonly version: string
  readonly uptime_seconds: number
}

export interface Registered {
  readonly path: string
  readonly version: number
  readonly catalog_id: string
  readonly warnings: readonly Json[]
}

export interface Started {
  readonly execution_id: string
  readonly status: string
  readonly commands_generated: number
}

export interface ExecutionProgress {
  readonly execution_id: string
  readonly status: ExecutionStatus
  readonly current_step: string | null
  readonly progress: {
    readonly total_steps: number
    readonly completed_steps: number
    readonly running_steps: number
    readonly failed_steps: number
  }
  readonly error: string | null
}

export interface ExecutionSummary {
  readonly execution_id: string
  readonly catalog_id: string
  readonly path: string | null
  readonly version: number | null
  readonly status: ExecutionStatus
  /** ISO-8601 UTC. */
  readonly started_at: string
  /** Null while it runs. */
  readonly completed_at: string | null
  /** Until now while it runs, by the server's clock. */
  readonly duration_seconds: number
  readonly event_count: number
  readonly error: string | null
}

export interface Cancelled {
  readonly execution_id: string
  readonly status: string
  /** The execution first, unless it was cancelled before; then those below it. */
  readonly cancelled_executions: readonly string[]
}

export interface ExecutionDetail extends ExecutionSummary {
  readonly parent_execution_id: string | null
  readonly workload: Json
  /** The newest ones, oldest of them first. */
  readonly events: readonly ExecutionEvent[]
}

export interface ExecutionEvent {
  readonly event_id: string
  /** Counts from 1 without gaps. */
  readonly position: number
  readonly event_type: string
  readonly node_name: string | null
  /** The kind of the tool, on `command.issued`. */
  readonly node_type: string | null
  readonly status: string
  readonly created_at: string
  readonly worker_id: string | null
  readonly duration_ms: number | null
  readonly context: Json
  readonly result: EventResult | null
  readonly meta: JsonObject
  readonly error: string | null
}

/** How an execution ended. */
export interface ExecutionEnd {
  readonly status: Exclude<ExecutionStatus, 'RUNNING'>
  readonly error: string | null
}

/** A piece of what a tool printed. */
export interface LogEntry {
  readonly cursor: string
  readonly step: string
  readonly command_id: string
  readonly event_id: string
  readonly attempt: number
  readonly stream: 'stdout' | 'stderr'
  readonly at: string
  readonly text: string
}

export interface LogPage {
  readonly entries: readonly LogEntry[]
  readonly next_cursor: string | null
}
