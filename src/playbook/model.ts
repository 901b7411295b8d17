/**
 * The normalised playbook: what every accepted spelling of the YAML turns into. Engine, worker, CLI and UI
 * read this model only, never the YAML. It is plain data: no functions, no compiled templates.
 */
import type { Json, JsonObject } from '../contract/json.ts'

export interface Playbook {
  readonly name: string
  /** Catalog path; `metadata.name` when the document has no path. */
  readonly path: string
  readonly metadata: JsonObject
  readonly workload: JsonObject
  readonly keychain: readonly JsonObject[]
  readonly executor: Executor
  /** Workflow order. Workbook references are already replaced by the tool they name. */
  readonly steps: readonly Step[]
  /** Name of the entry step. */
  readonly entry: string
}

export interface Executor {
  readonly finalStep: string | null
  readonly noNextIsError: boolean
  /** True when a failure stops the dispatch of new steps at once (`policy.failure.mode: fail_fast`). */
  readonly failFast: boolean
  readonly requires: JsonObject
}

export interface Step {
  readonly name: string
  readonly description: string | null
  /** Enable guard, template or bare expression; null means always. */
  readonly when: string | null
  /** `spec.policy.admit` rules, first match decides; empty means allow. */
  readonly admit: readonly AdmitRule[]
  /** Defaults of every task's input (`input`, `args` or `with`). */
  readonly input: JsonObject
  readonly set: readonly SetEntry[]
  readonly loop: Loop | null
  readonly body: Body
  readonly arcs: readonly Arc[]
  readonly mode: RoutingMode
  readonly onError: 'fail' | 'continue' | 'retry'
  readonly timeoutMs: number | null
  /** Top-level fields that stay readable when the result is stored apart. */
  readonly outputSelect: readonly string[]
}

/** `all`: every arc fires whatever its guard mode, the list-of-names form. */
export type RoutingMode = 'exclusive' | 'inclusive' | 'all'

export interface AdmitRule {
  readonly when: Condition
  readonly allow: boolean
}

/** `none`: a pure router without a tool. `single`: one task whose data is the step's data. `pipeline`: labelled data. */
export interface Body {
  readonly kind: 'none' | 'single' | 'pipeline'
  readonly tasks: readonly Task[]
}

export interface Task {
  readonly label: string
  readonly kind: string
  readonly input: JsonObject
  /** Everything else of the tool block, as written: neither kind, name, input, set nor spec.policy are in it. */
  readonly config: JsonObject
  readonly set: readonly SetEntry[]
  readonly rules: readonly PolicyRule[]
}

/** A literal boolean, or a template / bare expression. */
export type Condition = boolean | string

export interface PolicyRule {
  readonly when: Condition
  readonly do: 'continue' | 'retry' | 'jump' | 'break' | 'fail'
  /** Total number of executions of the task; a template is rendered by the worker. */
  readonly attempts: number | string
  readonly backoff: 'none' | 'fixed' | 'linear' | 'exponential'
  /** Seconds; a template is rendered by the worker. */
  readonly delay: number | string
  /** Jump target: a task label, or null for "the task before this one". */
  readonly to: string | null
  readonly set: readonly SetEntry[]
}

export interface Loop {
  readonly mode: 'sequential' | 'parallel' | 'cursor'
  readonly iterator: string
  /** Template or literal list; null for a cursor. */
  readonly in: string | readonly Json[] | null
  /** Null means unlimited for parallel loops. A template must render to an integer of at least 1. */
  readonly maxInFlight: number | string | null
  readonly onError: 'fail' | 'continue'
  readonly cursor: Cursor | null
}

export interface Cursor {
  readonly kind: string
  readonly auth: Json
  readonly claim: string
  readonly maxRows: number | string
  readonly rowConcurrency: number | string
}

export interface Arc {
  readonly to: string
  readonly when: string | null
  readonly set: readonly SetEntry[]
}

export interface SetEntry {
  readonly scope: 'ctx' | 'iter' | 'step'
  /** Never empty: `ctx.a.b` is `['a', 'b']`, a bare name is one segment. */
  readonly path: readonly string[]
  /** May contain templates, rendered with their types. */
  readonly value: Json
}
