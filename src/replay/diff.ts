/**
 * Two executions beside each other.
 *
 * 1. The first difference is the one that an explanation starts with: definition, then inputs, then the step runs in
 *    the order in which the first execution entered them, then the end. Versions of a playbook that say the same are no
 *    difference; who can read the definitions tells whether they do.
 * 2. Step runs belong together by the name of the step and the number of its run. The order of parallel branches is no
 *    difference.
 * 3. Timings are told, and are no difference either. A result that was kept from an origin is the result, and runs before
 *    it are not asked for when that origin is the other execution.
 * 4. What an export left out is unknown, and no difference.
 */
import { REDACTED } from '../contract/sensitive.ts'
import type { Json } from '../contract/json.ts'
import type { LogSummary, StepRunSummary } from './diff-summary.ts'
import { KEPT } from './diff-summary.ts'
import type { Change } from './json-changes.ts'
import { jsonChanges } from './json-changes.ts'

export type Aspect = 'definition' | 'workload' | 'path' | 'input' | 'outcome' | 'routing' | 'result' | 'end'

export interface StepDiff {
  readonly step: string
  readonly run: number
  /** Null when the execution has no such run. */
  readonly a: RunFacts | null
  readonly b: RunFacts | null
  readonly differs: readonly Aspect[]
  readonly input: readonly Change[]
  readonly result: readonly Change[]
}

export interface RunFacts {
  readonly word: StepRunSummary['word']
  readonly reason: string | null
  readonly durationMs: number | null
  readonly commands: number
  readonly released: number
  readonly next: readonly string[]
  readonly error: string | null
}

export interface SideFacts {
  readonly executionId: string
  readonly path: string | null
  readonly version: number | null
  readonly status: string
  readonly error: string | null
  readonly durationMs: number | null
  readonly originId: string | null
  readonly steps: number
}

export interface Diff {
  readonly same: boolean
  /** The same playbook in the same words, whatever the numbers of the versions. */
  readonly sameDefinition: boolean
  readonly a: SideFacts
  readonly b: SideFacts
  readonly first: {
    readonly aspect: Aspect
    readonly step: string | null
    readonly run: number | null
    readonly text: string
  } | null
  readonly workload: readonly Change[]
  readonly onlyInA: readonly string[]
  readonly onlyInB: readonly string[]
  readonly steps: readonly StepDiff[]
  readonly result: readonly Change[]
}

/** `parseInstant` reads an ISO text as milliseconds. Without knowing the definitions, their versions stand for them. */
export const diffLogs = (
  a: LogSummary,
  b: LogSummary,
  parseInstant: (iso: string) => number,
  sameDefinition = a.version === b.version,
): Diff => {
  const elapsed: Elapsed = (from, to) =>
    from === null || to === null ? null : parseInstant(to) - parseInstant(from)
  const workload = changesOf(a.workload, b.workload)
  const result = changesOf(a.result, b.result)
  const steps = stepDiffs(runsBeside(a, b), runsBeside(b, a), elapsed)
  const isSameDefinition = a.path === b.path && sameDefinition
  const first = firstDifference(a, b, { isSameDefinition, workload, result, steps })
  return {
    same: first === null,
    sameDefinition: isSameDefinition,
    a: sideOf(a, elapsed),
    b: sideOf(b, elapsed),
    first,
    workload,
    onlyInA: steps.filter((step) => step.b === null).map(labelOf),
    onlyInB: steps.filter((step) => step.a === null).map(labelOf),
    steps,
    result,
  }
}

const changesOf = (a: Json | undefined, b: Json | undefined): readonly Change[] =>
  jsonChanges(a, b).filter(
    (change) => change.kind !== 'changed' || (change.a !== REDACTED && change.b !== REDACTED),
  )

/** The runs of one side without those of which the other side, its rerun, kept only what came after. */
const runsBeside = (side: LogSummary, other: LogSummary): LogSummary['runs'] =>
  other.originId === side.executionId
    ? side.runs.filter(({ step, run }) => run >= (other.kept.get(step) ?? 0))
    : side.runs

const keyOf = ({ step, run }: { readonly step: string; readonly run: number }): string =>
  JSON.stringify([step, run])

const labelOf = ({ step, run }: { readonly step: string; readonly run: number }): string =>
  run === 1 ? step : `${step} (run ${run})`

/** Runs of the first execution in its order; those that only the second has follow in its order. */
const stepDiffs = (a: LogSummary['runs'], b: LogSummary['runs'], elapsed: Elapsed): readonly StepDiff[] => {
  const others = new Map(b.map((run) => [keyOf(run), run]))
  const known = new Set(a.map(keyOf))
  return [
    ...a.map((run) => stepDiff(run, others.get(keyOf(run)) ?? null, elapsed)),
    ...b.filter((run) => !known.has(keyOf(run))).map((run) => stepDiff(null, run, elapsed)),
  ]
}

const SKIPPED: ReadonlySet<string> = new Set(['skipped', 'bypassed'])

const stepDiff = (a: StepRunSummary | null, b: StepRunSummary | null, elapsed: Elapsed): StepDiff => {
  const { step, run } = a ?? b ?? { step: '', run: 0 }
  const base = { step, run, a: a && factsOf(a, elapsed), b: b && factsOf(b, elapsed) }
  if (!a || !b) return { ...base, differs: ['path'], input: [], result: [] }
  const isKept = a.word === 'kept' || b.word === 'kept'
  // Where one of them did not run, that is the difference.
  const isSkipped = SKIPPED.has(a.word) || SKIPPED.has(b.word)
  const input = isKept || isSkipped ? [] : changesOf(a.input, b.input)
  const result = isSkipped ? [] : changesOf(a.data, b.data)
  const differs: Aspect[] = []
  if (input.length > 0) differs.push('input')
  const isReason = a.reason !== b.reason && a.reason !== KEPT && b.reason !== KEPT
  if (!isKept && (a.word !== b.word || isReason || a.error !== b.error)) differs.push('outcome')
  if (result.length > 0) differs.push('result')
  if (!isKept && a.next.toSorted().join('\n') !== b.next.toSorted().join('\n')) differs.push('routing')
  return { ...base, differs, input, result }
}

const factsOf = (run: StepRunSummary, elapsed: Elapsed): RunFacts => ({
  word: run.word,
  reason: run.reason,
  durationMs: elapsed(run.enteredAt, run.leftAt),
  commands: run.commands,
  released: run.released,
  next: run.next,
  error: run.error,
})

const sideOf = (log: LogSummary, elapsed: Elapsed): SideFacts => ({
  executionId: log.executionId,
  path: log.path,
  version: log.version,
  status: log.status,
  error: log.error,
  durationMs: elapsed(log.startedAt, log.endedAt),
  originId: log.originId,
  steps: log.runs.length,
})

/** Milliseconds between two instants of a log. */
type Elapsed = (from: string | null, to: string | null) => number | null

interface Found {
  readonly isSameDefinition: boolean
  readonly workload: readonly Change[]
  readonly result: readonly Change[]
  readonly steps: readonly StepDiff[]
}

const firstDifference = (a: LogSummary, b: LogSummary, found: Found): Diff['first'] => {
  const { isSameDefinition, workload, result, steps } = found
  const whole = (aspect: Aspect, text: string): Diff['first'] => ({ aspect, step: null, run: null, text })
  if (!isSameDefinition) return whole('definition', definitionText(a, b))
  const [change] = workload
  if (change) return whole('workload', `workload.${changeText(change)}`)
  const step = steps.find(({ differs }) => differs.length > 0)
  if (step) return { aspect: step.differs[0] ?? 'path', step: step.step, run: step.run, text: stepText(step) }
  if (a.status !== b.status || a.error !== b.error)
    return whole('end', `${a.status}${because(a.error)} and ${b.status}${because(b.error)}`)
  const [last] = result
  return last ? whole('result', `result ${changeText(last)}`) : null
}

/** What came from elsewhere may have the number of a version here and say something else. */
const definitionText = (a: LogSummary, b: LogSummary): string =>
  a.path === b.path && a.version === b.version
    ? `two definitions of ${a.path} version ${a.version}`
    : `${a.path} version ${a.version} and ${b.path} version ${b.version}`

const because = (error: string | null): string => (error === null ? '' : ` (${error})`)

const stepText = (step: StepDiff): string => {
  const { a, b } = step
  if (!a || !b) return `${labelOf(step)} ${(a ?? b)?.word ?? ''} only in ${a ? 'the first' : 'the second'}`
  const [aspect] = step.differs
  if (aspect === 'input') return `the input of ${labelOf(step)}${placeText(step.input[0])}`
  if (aspect === 'result') return `the result of ${labelOf(step)}${placeText(step.result[0])}`
  if (aspect === 'routing')
    return `${labelOf(step)} leads to ${a.next.join(', ') || 'nothing'} and to ${b.next.join(', ') || 'nothing'}`
  return `${labelOf(step)} ${a.word}${because(a.error ?? a.reason)} and ${b.word}${because(b.error ?? b.reason)}`
}

/** A change behind the name of the whole: of the whole itself, or of something in it. */
const placeText = (change: Change | undefined): string => `${change?.path ? ':' : ''} ${changeText(change)}`

const changeText = (change: Change | undefined): string => {
  if (!change) return ''
  const { path, kind, a, b } = change
  const where = path === '' ? '' : `${path} `
  if (kind === 'added') return `${where}is only in the second`
  if (kind === 'removed') return `${where}is only in the first`
  return `${where}is ${shortly(a)} and ${shortly(b)}`
}

const LONGEST = 60

const shortly = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`
}
