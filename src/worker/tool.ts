/**
 * The port between the worker and what it can do. One tool is one kind of the playbook language; adding a kind
 * is adding a file that implements this and a line where the registry is built.
 */
import type { LeasedCommand, ToolError } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'

export interface Tool {
  readonly kind: string
  /** Instant tools do no I/O and need no slot. */
  readonly instant: boolean
  run(call: ToolCall): Promise<ToolResult> | ToolResult
  /** Frees what the tool keeps between calls: processes, connections. */
  close?(): Promise<void>
}

export interface ToolCall {
  /** The rendered tool block without `kind` and without the input. */
  readonly config: JsonObject
  /** The step's input defaults under the tool's own input. */
  readonly input: JsonObject
  /** The command; in a pipeline with the kind, the block and the variables of the task under way. */
  readonly command: LeasedCommand
  /**
   * Names this call among all calls of the execution, and names it the same when the command is run again: what a
   * tool tells others so that they do its work only once.
   */
  readonly callId: string
  /**
   * Aborts when the time is up or the command is not wanted any more. A tool then stops its work and answers;
   * when the reason is a ToolFailure, that is the error to report.
   */
  readonly signal: AbortSignal
  /**
   * Waits for something that others do, without keeping them from doing it: the slot of the command is free
   * meanwhile, and is had again before this answers.
   */
  aside?<T>(waiting: Promise<T>): Promise<T>
  /** Output as it appears, for whoever watches. The result carries it again, as a whole. */
  log(stream: 'stdout' | 'stderr', text: string): void
}

export interface ToolResult {
  readonly outcome: 'ok' | 'error'
  readonly data?: Json
  readonly error?: ToolError
  /** The work goes on outside, and something will tell its end. */
  readonly pending?: { readonly timeoutMs: number | null }
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  /** Variables that the tool wrote for the rest of the execution: name, or path with dots, to value. */
  readonly contextUpdates?: JsonObject
}
