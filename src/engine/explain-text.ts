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
        `  ${step} has an arc here; it ${UPSTREAM_WORDS[state] ?? state}${error === null ? '' : `: ${error}`}`,
    ),
    ...joinLines(explanation),
    ...explanation.guards.map((guard) => `  its own condition (${guard.kind}) ${conditionText(guard)}`),
    ...explanation.failedUpstreams.map(
      ({ step, error }) => `  ${step} failed and nothing handled that: ${error}`,
    ),
    ...explanation.waits.map(waitLine),
  ].join('\n')

const HEADLINES: Readonly<Record<Verdict, string>> = {
  completed: 'ran and completed',
  failed: 'ran and failed',
  running: 'is running',
  waits: 'waits to be started',
  bypassed: 'was bypassed: its own condition said no',
  skipped: 'was skipped: no arc leads to it any more',
  blocked: 'does not run: a step before it failed',
  kept: 'was kept from the execution that this one was forked from',
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
  seeded: 'the fork goes on with it',
}

const causeLines = ({ broughtBy, verdict }: Explanation): readonly string[] =>
  broughtBy === null || verdict === 'kept' ? [] : [`  ${BROUGHT[broughtBy]}`]

const REASONS: Readonly<Record<ArcReason, string>> = {
  unconditional: 'it has no condition',
  condition_true: 'its condition held',
  condition_false: 'its condition did not hold',
  condition_failed: 'its condition could not be evaluated',
  earlier_arc_fired: 'an arc before it fired and the router takes one only',
  failure_not_read: 'the step failed, and only an arc whose condition asks how it came out leads on',
}

const arcLine = (arc: ArcSeen): string => {
  const which = arc.fromRun > 1 ? ` (run ${arc.fromRun})` : ''
  const verb = arc.fired ? 'fired' : 'did not fire'
  const condition = arc.when === null ? '' : ` ${conditionText(arc)}`
  return `  the arc from ${arc.from}${which} ${verb}: ${REASONS[arc.reason]}${condition}`
}

const conditionText = ({ when, holds, values, problem }: Judged): string => {
  const saw = Object.entries(values).map(([path, value]) => `${path} = ${valueText(value)}`)
  const verdict = holds === null ? '' : ` was ${holds}`
  return `[${(when ?? 'literal').trim()}]${verdict}${problem === null ? '' : `: ${problem}`}${saw.length === 0 ? '' : `, with ${saw.join(', ')}`}`
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
    ? [`  it joins; arrived: ${arrived.join(', ')}`]
    : []),
  ...missing.map(({ from, because }) =>
    because.includes(from)
      ? `  ${from} may still come: it is not over`
      : `  ${from} may still come: ${because.join(', ')} can lead there`,
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
