/**
 * Work as it travels between the control plane and a worker: what a worker gets, what it answers, and the port
 * both sides meet at.
 *
 * 1. Whatever a worker says about a command carries the lease token it got with it; a stale token is answered
 *    with `lost`, never with an exception.
 * 2. Every call is idempotent: repeating one that got no answer is always safe.
 */
import type { Json, JsonObject } from './json.ts'
import type { KeychainEntry, KeychainRecipe } from './keychain.ts'
import type { LargeData } from './large-data.ts'
import type { CommandOutput } from './output.ts'

/** One unit of work as a worker gets it. */
export interface LeasedCommand {
  readonly executionId: string
  /** Id of its command.issued event: the claim key. */
  readonly eventId: string
  readonly commandId: string
  readonly catalogId: string
  readonly step: string
  /** `task_sequence` for pipelines. */
  readonly toolKind: string
  /** Counted from 1. */
  readonly attempt: number
  readonly leaseToken: string
  readonly context: CommandContext
  readonly meta: JsonObject
}

export interface CommandContext {
  /** The tool block, rendered except for the paths named in `meta.late`. */
  readonly tool_config: Json
  /** Step-level input: defaults under the tool's own input. */
  readonly args: JsonObject
  /** The variables that late templates and code may read. */
  readonly render_context: JsonObject
}

/** Why a tool failed. Policy rules and arcs read it as `output.error`, hence the snake case names. */
export interface ToolError {
  /** Class of failure, such as `timeout`, `connection`, `schema`, `config`. */
  readonly kind: string
  /** Stable word for this failure, such as `PY_ValueError`, `HTTP_503`. */
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  readonly http_status?: number
  readonly sqlstate?: string
  readonly exception?: string
  readonly traceback?: string
  /** Seconds the other side asked to wait. */
  readonly retry_after?: number
}

/** A run of a task that was followed by another try. In the log as it stands here, hence the snake case names. */
export interface Try {
  readonly task: string
  /** Counted from 1. */
  readonly attempt: number
  readonly duration_ms: number
  /** How long the next try waited. */
  readonly wait_ms: number
  /** Absent when the policy repeated a success. */
  readonly error?: Pick<ToolError, 'kind' | 'code' | 'message'>
}

/** How many runs were repeated, and the newest of them. */
export interface Tries {
  readonly count: number
  readonly runs: readonly Try[]
}

export interface CommandReport {
  readonly executionId: string
  readonly eventId: string
  readonly commandId: string
  readonly step: string
  readonly workerId: string
  readonly leaseToken: string
  readonly attempt: number
  readonly outcome: 'ok' | 'error'
  /** Absent means that the tool gave no data. */
  readonly data?: Json
  /** In place of `data`, when that is large. Sending the report again with the same object stores it once. */
  readonly large?: LargeData
  readonly error?: ToolError
  /** Variables that the command wrote for the rest of the execution: name, or path with dots, to value. */
  readonly contextUpdates?: JsonObject
  /** The work goes on outside: something will tell its end. Null: however long that takes. */
  readonly pending?: { readonly timeoutMs: number | null }
  readonly durationMs: number
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  readonly tries?: Tries
}

/** A secret that an execution may use, as it is stored. */
export interface Credential {
  readonly name: string
  /** Such as `postgres` or `bearer`; `keychain` when it comes from the keychain of the playbook. */
  readonly type: string
  readonly data: Json
  /** Seconds it lives; absent when nobody knows an end. */
  readonly expiresInSeconds?: number
}

export type HeartbeatStatus = 'ok' | 'cancelled' | 'lost'

/** Names one lease: the command and the token that proves its holder. */
export interface LeaseKey {
  readonly executionId: string
  readonly eventId: string
  readonly leaseToken: string
}

/** The part of the platform's AbortSignal that the port needs; the real one satisfies it. */
export interface CancelSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** What came of an execution. */
export interface PlaybookOutcome {
  readonly status: 'COMPLETED' | 'FAILED' | 'CANCELLED'
  readonly path: string
  readonly data: Json
  readonly error: string | null
}

/** A worker as others see it. */
export interface WorkerPresence {
  readonly workerId: string
  readonly pool: string
  readonly slots: number
  readonly capabilities: readonly string[]
  readonly hostname: string
  readonly version: string
}

/** What a worker needs from the control plane: over HTTP (client/) or in the same process (server/). */
export interface ControlPlane {
  /** Waits up to `waitMs` for work; an empty list when there was none or the signal aborted. */
  lease(request: {
    readonly workerId: string
    readonly pool: string
    /** What the worker can do; work that asks for more goes to others. */
    readonly capabilities?: readonly string[]
    readonly max: number
    readonly waitMs: number
    readonly signal: CancelSignal
  }): Promise<readonly LeasedCommand[]>

  report(report: CommandReport): Promise<'ok' | 'lost'>

  /**
   * Extends the leases; answers one status per lease, in the same order. With `waitMs` the answer may be held back that
   * long for one of the commands to be cancelled. An aborted signal ends the wait; the call may then fail.
   */
  heartbeat(request: {
    readonly workerId: string
    readonly leases: readonly LeaseKey[]
    readonly waitMs?: number
    readonly signal?: CancelSignal
  }): Promise<readonly HeartbeatStatus[]>

  /** Starts a playbook on behalf of a tool call; repeating the call starts nothing new. */
  startPlaybook(request: {
    readonly callId: string
    readonly parentExecutionId: string
    /** `path` or `catalog_id`, perhaps `version`, and the `trace` it belongs to. */
    readonly playbook: JsonObject
    readonly payload: JsonObject
  }): Promise<{ readonly executionId: string }>

  /** Waits up to `waitMs` for the end of an execution; null while it runs. */
  awaitPlaybook(request: {
    readonly executionId: string
    /** The step whose data is wanted; null for the final result. */
    readonly step: string | null
    readonly waitMs: number
    readonly signal: CancelSignal
  }): Promise<PlaybookOutcome | null>

  /** Data that is stored apart; null when it does not exist. */
  result(request: {
    readonly ref: string
    readonly signal: CancelSignal
  }): Promise<{ readonly data: Json } | null>

  /** Says that the worker lives, and who it is; now and then. */
  announce(presence: WorkerPresence): Promise<void>

  /** Says that the worker is gone for good. */
  farewell(workerId: string): Promise<void>

  /** What running tools print. Pieces of a lease that was lost are dropped without a word. */
  output(request: { readonly workerId: string; readonly outputs: readonly CommandOutput[] }): Promise<void>

  /** Hands back unstarted or aborted work. */
  release(request: { readonly workerId: string; readonly leases: readonly LeaseKey[] }): Promise<void>

  /** What an execution knows under this name, with its data; null when that is nothing. */
  credential(request: {
    readonly executionId: string
    readonly alias: string
    readonly signal: CancelSignal
  }): Promise<Credential | null>

  /** How to make what an execution knows under this name; null when nothing says how. */
  keychainRecipe(request: {
    readonly executionId: string
    readonly alias: string
    /** Who is going to make it: with a name, others are told to wait for a moment. */
    readonly holder?: string
    readonly signal: CancelSignal
  }): Promise<KeychainRecipe | null>

  /** Keeps what was made, for everybody it is shared with. */
  keepKeychain(request: { readonly entry: KeychainEntry; readonly signal: CancelSignal }): Promise<void>
}
