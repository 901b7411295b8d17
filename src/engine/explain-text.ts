/** An explanation as sentences, one per line. */
import type { Json } from '../contract/json.ts'
import type { ArcReason, Judged } from './explain-arcs.ts'
import type { ArcSeen, Explanation, Verdict } from './explain.ts'

const LONGEST_VALUE = 80

export const explanationText = (explanation: Explanation): string =>
  [
    headline(explanation),
    ...causeLines(explanation),
    ...explanation.arcs.map(arcLine),
    ...explanation.upstreams.map(
      ({ step, state, error }) =>
        `  ${step}, which leads here, ${UPSTREAM_WORDS[state] ?? state}${error === null ? '' : `: ${error}`}`,
    ),
    ...joinLines(explanation),
    ...explanation.guards.map((guard) => `  its own ${guard.kind} ${conditionText(guard)}`),
    ...explanation.failedUpstreams.map(
      ({ step, error }) => `  ${step} failed, and nothing handled the failure: ${error}`,
    ),
    ...explanation.waits.map(waitLine),
  ].join('\n')

const HEADLINES: Readonly<Record<Verdict, string>> = {
  completed: 'ran and completed',
  failed: 'ran and failed',
  running: 'is running',
  waits: 'waits to be started',
  bypassed: 'was bypassed: its own condition was false',
  skipped: 'was skipped: no path leads to it any more',
  blocked: 'does not run: a step before it failed',
  kept: 'did not run here: its result was kept from the execution that this one reruns',
  stopped: 'was stopped by the end of the execution',
  not_reached: 'has not been reached',
}

const headline = ({ step, run, verdict, error, handled }: Explanation): string => {
  const which = run !== null && run > 1 ? ` (run ${run})` : ''
  const how = error === null ? '' : `: ${error}`
  return `${step}${which} ${HEADLINES[verdict]}${how}${handled ? ' (handled)' : ''}`
}

const BROUGHT: Readonly<Record<NonNullable<Explanation['broughtBy']>, string>> = {
  entry: 'it is the entry step',
  reopened: 'it was run again by a retry',
  seeded: 'the rerun began here',
}

const causeLines = ({ broughtBy, verdict }: Explanation): readonly string[] =>
  broughtBy === null || verdict === 'kept' ? [] : [`  ${BROUGHT[broughtBy]}`]

/** What follows on its own, where no condition was judged. */
const REASONS: Readonly<Record<ArcReason, string>> = {
  unconditional: 'it has no condition',
  condition_true: 'its condition was true',
  condition_false: 'its condition was false',
  condition_failed: 'its condition could not be evaluated',
  earlier_arc_fired: 'an arc before it fired, and only the first one is taken',
  failure_not_read: 'the step failed, and then only arcs whose condition reads the outcome are followed',
}

const arcLine = (arc: ArcSeen): string => {
  const which = arc.fromRun > 1 ? ` (run ${arc.fromRun})` : ''
  const verb = arc.fired ? 'fired' : 'did not fire'
  const reason =
    JUDGED.has(arc.reason) && arc.when !== null ? `its condition ${conditionText(arc)}` : REASONS[arc.reason]
  return `  the arc from ${arc.from}${which} ${verb}: ${reason}`
}

/** Reasons that are what the condition made of its values. */
const JUDGED: ReadonlySet<ArcReason> = new Set(['condition_true', 'condition_false', 'condition_failed'])

/** Such as `{{ a > 1 }} was false (a = 0)`. */
const conditionText = ({ when, holds, values, problem }: Judged): string => {
  const saw = Object.entries(values).map(([path, value]) => `${path} = ${valueText(value)}`)
  const verdict = holds === null ? 'could not be evaluated' : `was ${holds}`
  const condition = when === null ? '' : `${when.trim()} `
  return `${condition}${verdict}${saw.length === 0 ? '' : ` (${saw.join(', ')})`}${problem === null ? '' : `: ${problem}`}`
}

const valueText = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`
}

const UPSTREAM_WORDS: Readonly<Record<string, string>> = {
  not_reached: 'has not been reached',
  stopped: 'was stopped by the end of the execution',
  waiting: 'waits to be started',
  running: 'is still running',
  routing: 'has just ended',
  completed: 'completed and took another way',
  failed: 'failed',
  skipped: 'was skipped',
  bypassed: 'was bypassed',
}

const joinLines = ({ join: { arrived, missing } }: Explanation): readonly string[] => [
  ...(arrived.length > 1 || (arrived.length > 0 && missing.length > 0)
    ? [`  branches that arrived: ${arrived.join(', ')}`]
    : []),
  ...missing.map(({ from, because }) =>
    because.includes(from)
      ? `  ${from} may still arrive: it is not over`
      : `  ${from} may still arrive: ${because.join(', ')} can lead there`,
  ),
]

const waitLine = (wait: Explanation['waits'][number]): string => {
  const which = wait.index === null ? 'its command' : `its iteration ${wait.index}`
  if (wait.for === 'worker') return `  ${which} waits for a worker`
  if (wait.for === 'report') return `  ${which} is held by ${wait.worker}`
  return wait.for === 'child'
    ? `  ${which} waits for the end of execution ${wait.childId}`
    : `  ${which} waits for an answer from outside`
}
