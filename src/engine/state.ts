/**
 * What an execution is, folded from its events. Plain data with one owner: `evolve` changes it in place, and a
 * writer that loses a race throws its state away and folds again, so nothing is ever undone.
 *
 * 1. A step run is `running` from its step.enter until its last command ended, `settled` until its routing is
 *    recorded, then at rest. `running` and `settled` below list exactly the steps in those two phases.
 * 2. `commands` holds the commands without an outcome, nothing else: finished ones live in the log.
 * 3. `tokens` holds fired arcs whose target has not been entered since, oldest first.
 * 4. Loop results are stored by index as they arrive, so one more item costs the same at any length.
 * 5. `cut` and `dropped` hold what the end of the execution and failed joins took away, for the case that it is
 *    opened again; nothing else reads them.
 */
import type { ToolError } from '../contract/command.ts'
import type { ExecutionStatus } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'

export interface State {
  readonly executionId: string
  catalogId: string
  path: string
  playbookVersion: number | null
  parentExecutionId: string | null
  pool: string
  trace: Json
  /** The parent's command that waits for this execution; null when nobody waits. */
  parentCommandId: string | null
  /** How many executions stand above this one. */
  depth: number
  /** The execution this one was forked from; null when it was started afresh. */
  origin: Origin | null
  /** Position of the last folded event; 0 before the start. */
  position: number
  /** Null before the start. */
  status: ExecutionStatus | null
  startedAt: string | null
  finishedAt: string | null
  error: string | null
  workload: JsonObject
  /** Values written by `set` and by exports; they hide step results and workload keys of the same name. */
  vars: Record<string, Json>
  readonly steps: Map<string, StepState>
  readonly commands: Map<string, CommandState>
  tokens: Token[]
  readonly running: Set<string>
  settled: string[]
  /** Never entered steps at the end of a dead arc, not yet reported as skipped. */
  readonly deadTargets: Set<string>
  readonly failures: Failure[]
  stepRuns: number
  counts: StepCounts
  /** Newest step entered. */
  currentStep: string | null
  /** The step whose data is the result of the execution so far: the last one that completed with data. */
  lastCompleted: string | null
  finalStepEntered: boolean
  /** What was under way when the execution ended; null when it ended by itself, or has not. */
  cut: Cut | null
  /** Tokens that were used up because a step that joins there had failed. */
  dropped: Token[]
}

export interface Origin {
  readonly executionId: string
  /** The last event that the fork took over; null when it took over nothing but the workload. */
  readonly eventId: string | null
  readonly position: number
}

/** Work that a terminal event stopped. */
export interface Cut {
  readonly running: readonly string[]
  readonly settled: readonly string[]
  readonly tokens: readonly Token[]
  readonly dead: readonly string[]
  /** Iterations that were issued and had not ended. */
  readonly iterations: readonly { readonly step: string; readonly index: number }[]
}

export interface StepCounts {
  entered: number
  completed: number
  failed: number
}

export interface Failure {
  readonly step: string
  readonly error: string
}

/** A fired arc. */
export interface Token {
  readonly from: string
  readonly to: string
}

export type StepPhase = 'running' | 'settled' | 'rest'
export type StepOutcome = 'ok' | 'error' | 'skipped' | 'bypassed'

export interface StepState {
  /** Counts the activations of the step, entries and bypasses alike. */
  run: number
  entered: boolean
  phase: StepPhase
  /** Outcome of the latest run that has one. */
  outcome: StepOutcome | null
  /** An error outcome that an arc or `on_error: continue` took care of. */
  handled: boolean
  /** Stopped because a step before it failed and nobody handled that. */
  blocked: boolean
  /** User data of the latest run that produced some; undefined when there is none. */
  data: Json | undefined
  error: ToolError | null
  /** Event id that settled the latest run. */
  settledBy: string | null
  loop: LoopState | null
  /** A loop that failed, as it stood: opened again, it goes on with what is not done. */
  stopped: LoopState | null
  cursor: CursorState | null
  /** True when `data` came from a loop, whose value has the shape {results, stats}. */
  looped: boolean
}

export interface LoopState {
  readonly items: readonly Json[]
  readonly total: number
  /** Most commands outstanding at once. */
  readonly window: number
  /** Goes on over failed iterations and counts them. */
  readonly continueOnError: boolean
  /** Next index to issue. */
  next: number
  outstanding: number
  done: number
  failed: number
  readonly results: Json[]
  /** Iterations to issue once more, before the next ones. */
  again: number[]
  /** Iterations that failed. */
  readonly failedAt: number[]
  /** The first failure, which stops the loop unless it goes on over errors. */
  error: ToolError | null
}

/** A loop over what a claim statement hands out, one frame of rows at a time. */
export interface CursorState {
  /** Most rows of a frame worked on at once. */
  readonly window: number
  readonly continueOnError: boolean
  /** Frames done so far. */
  frame: number
  /** Rows of the frame in progress; null between frames. */
  rows: readonly Json[] | null
  claiming: boolean
  next: number
  outstanding: number
  /** Rows of this frame that ended. */
  done: number
  processed: number
  failed: number
  error: ToolError | null
}

export interface CommandState {
  /** Id of the command.issued event, the claim key. */
  readonly eventId: string
  readonly commandId: string
  readonly position: number
  readonly step: string
  readonly run: number
  /** Iteration index; null outside loops. */
  readonly index: number | null
  readonly toolKind: string
  readonly maxAttempts: number
  workerId: string | null
  leaseToken: string | null
  /** Claims so far, hand-backs not counted. */
  attempt: number
  /** Asks the cursor for rows instead of working on one. */
  readonly isClaim: boolean
  /** The worker is done with it; something outside will end it. */
  parked: boolean
  /** Outcome that call.done or call.error brought before the command ended. */
  early: EarlyResult | null
}

export interface EarlyResult {
  readonly data: Json | undefined
  readonly error: ToolError | null
}

export const createState = (executionId: string): State => ({
  executionId,
  catalogId: '0',
  path: '',
  playbookVersion: null,
  parentExecutionId: null,
  pool: 'shared',
  trace: null,
  parentCommandId: null,
  depth: 0,
  origin: null,
  position: 0,
  status: null,
  startedAt: null,
  finishedAt: null,
  error: null,
  workload: {},
  vars: {},
  steps: new Map(),
  commands: new Map(),
  tokens: [],
  running: new Set(),
  settled: [],
  deadTargets: new Set(),
  failures: [],
  stepRuns: 0,
  counts: { entered: 0, completed: 0, failed: 0 },
  currentStep: null,
  lastCompleted: null,
  finalStepEntered: false,
  cut: null,
  dropped: [],
})

export const isTerminal = (state: State): boolean => state.status !== null && state.status !== 'RUNNING'

export const createStep = (): StepState => ({
  run: 0,
  entered: false,
  phase: 'rest',
  outcome: null,
  handled: false,
  blocked: false,
  data: undefined,
  error: null,
  settledBy: null,
  loop: null,
  stopped: null,
  cursor: null,
  looped: false,
})

/** For the fold alone: it makes the step when there is none yet. */
export const stepOf = (state: State, name: string): StepState => {
  let step = state.steps.get(name)
  if (!step) state.steps.set(name, (step = createStep()))
  return step
}

export const textOr = (value: Json | undefined, fallback: string): string =>
  typeof value === 'string' ? value : fallback
