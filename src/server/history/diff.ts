/** Reads two logs and compares them. What is sensitive takes part in the comparison and is not shown. */
import type { Json } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { isSensitiveKey, redact, REDACTED } from '../../contract/sensitive.ts'
import { summarise } from '../../contract/summary.ts'
import { isLargerThan } from '../../lib/json-size.ts'
import { canonicalJson } from '../../replay/canonical-json.ts'
import type { Diff } from '../../replay/diff.ts'
import { diffLogs } from '../../replay/diff.ts'
import type { LogSummary } from '../../replay/diff-summary.ts'
import { createLogReader } from '../../replay/diff-summary.ts'
import type { Change } from '../../replay/json-changes.ts'
import { readEvents } from '../../store/events.ts'
import type { Core } from '../core.ts'
import type { RegisteredPlaybook } from '../playbooks.ts'
import { demandRow } from './cutoff.ts'

const PAGE = 2000
/** Steps told one by one, at most; those that differ come first when there are more. */
const SHOWN_STEPS = 1000
const SHOWN_BYTES = 1024

export const diffExecutions = async (core: Core, a: string, b: string) => {
  const [first, second] = [await readSummary(core, a), await readSummary(core, b)]
  return diffAnswer(diffLogs(first, second, Date.parse, await isSameDefinition(core, first, second)))
}

/**
 * Registering a file again makes another version of the same. What differs only in how it is written, such as comments,
 * is the same, too. Undefined when that cannot be told.
 */
const isSameDefinition = async (core: Core, a: LogSummary, b: LogSummary): Promise<boolean | undefined> => {
  if (a.catalogId === null || b.catalogId === null) return undefined
  if (a.catalogId === b.catalogId) return true
  try {
    const [first, second] = [await core.playbooks.byId(a.catalogId), await core.playbooks.byId(b.catalogId)]
    return canonicalJson(modelOf(first)) === canonicalJson(modelOf(second))
  } catch (error) {
    // The entry is gone, or was written for other times.
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

const modelOf = ({ graph }: RegisteredPlaybook): Json => graph.playbook as unknown as Json

const readSummary = async (core: Core, executionId: string): Promise<LogSummary> => {
  await demandRow(core, executionId)
  const reader = createLogReader(executionId)
  for (let after = 0; ;) {
    const events = await readEvents(core.shards.of(executionId), executionId, {
      after,
      limit: PAGE,
      sealer: core.sealer,
    })
    for (const event of events) reader.add(event)
    if (events.length < PAGE) return reader.summary()
    after = events.at(-1)?.position ?? after
  }
}

const diffAnswer = (diff: Diff) => {
  const differing = diff.steps.filter(({ differs }) => differs.length > 0)
  const steps = diff.steps.length <= SHOWN_STEPS ? diff.steps : differing.slice(0, SHOWN_STEPS)
  return {
    same: diff.same,
    same_definition: diff.sameDefinition,
    a: sideAnswer(diff.a),
    b: sideAnswer(diff.b),
    first_difference: diff.first && { ...diff.first, text: safeText(diff) },
    workload: diff.workload.map(shown),
    path: { only_in_a: diff.onlyInA, only_in_b: diff.onlyInB },
    steps: steps.map(({ step, run, a, b, differs, input, result }) => ({
      step,
      run,
      differs,
      a: a && runAnswer(a),
      b: b && runAnswer(b),
      input: input.map(shown),
      result: result.map(shown),
    })),
    steps_total: diff.steps.length,
    steps_differing: differing.length,
    result: diff.result.map(shown),
  }
}

const sideAnswer = ({ executionId, durationMs, originId, error, ...rest }: Diff['a']) => ({
  execution_id: executionId,
  ...rest,
  error: redact(error) as string | null,
  duration_ms: durationMs,
  origin_execution_id: originId,
})

const runAnswer = ({ word, durationMs, error, ...rest }: NonNullable<Diff['steps'][number]['a']>) => ({
  outcome: word,
  ...rest,
  error: redact(error) as string | null,
  duration_ms: durationMs,
})

const isHidden = (path: string): boolean =>
  path.split(/[.[\]]+/).some((key) => key !== '' && isSensitiveKey(key))

const shown = ({ path, kind, a, b }: Change) => {
  const show = (value: Json): Json => {
    if (isHidden(path)) return value === null ? null : REDACTED
    const clean = redact(value)
    return isLargerThan(clean, SHOWN_BYTES) ? summarise(clean) : clean
  }
  return { path, kind, a: show(a), b: show(b) }
}

/** The text quotes values; where one of them is a secret it says only where. */
const safeText = ({ first, workload, steps, result }: Diff): string => {
  if (!first) return ''
  const step = steps.find((each) => each.step === first.step && each.run === first.run)
  const changes = [
    ...(first.aspect === 'workload' ? workload.slice(0, 1) : []),
    ...(first.aspect === 'input' ? (step?.input.slice(0, 1) ?? []) : []),
    ...(first.aspect === 'result' ? (step?.result ?? result).slice(0, 1) : []),
  ]
  const [change] = changes
  const isSecret =
    change !== undefined &&
    (isHidden(change.path) || redact(change.a) !== change.a || redact(change.b) !== change.b)
  if (!isSecret) return redact(first.text) as string
  const where = first.step === null ? first.aspect : `the ${first.aspect} of ${first.step}`
  return `${where}: ${change.path} differs and is not shown`
}
