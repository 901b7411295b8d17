/**
 * The port between the worker and what it can do. One tool is one kind of the playbook language; adding a kind
 * is adding a file that implements this, its declaration, and a line where the registry is built.
 */
import type { LeasedCommand, ToolError, Tries } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { LargeData } from '../contract/large-data.ts'
import type { ToolDeclaration } from '../contract/tools/tool-declaration.ts'

export interface Tool {
  readonly kind: string
  /** What its block takes. The registry checks every rendered block against it before the tool runs. */
  readonly declaration?: ToolDeclaration
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
  /** Nobody here looks into the data: when it is large, the tool may answer it as bytes. */
  readonly takesLarge?: boolean
  /** Output as it appears, for whoever watches. The result carries it again, as a whole. */
  log(stream: 'stdout' | 'stderr', text: string): void
}

export interface ToolResult {
  readonly outcome: 'ok' | 'error'
  readonly data?: Json
  /** In place of `data`; only where the call takes it. */
  readonly large?: LargeData
  readonly error?: ToolError
  /** The work goes on outside, and something will tell its end. */
  readonly pending?: { readonly timeoutMs: number | null }
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  /** Runs that a policy repeated; told by whoever runs the policy, never by a tool. */
  readonly tries?: Tries
  /** Variables that the tool wrote for the rest of the execution: name, or path with dots, to value. */
  readonly contextUpdates?: JsonObject
}
