/**
 * Judges the log of an execution that runs elsewhere.
 *
 * 1. The newest terminal event decides, in any spelling.
 * 2. Without one, any failed event makes the execution failed; when every entered step has completed and no command is
 *    under way it has completed; else it runs.
 * 3. Steps are counted by name; the node `playbook` is none.
 */
import type { ExecutionStatus } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import type { ImportedFact, ImportedStanding } from '../store/imported-events.ts'

const COMPLETED_WORDS = new Set(['COMPLETED', 'SUCCESS', 'OK'])
const RUNNING_WORDS = new Set(['RUNNING', 'STARTED'])
const COMMAND_ENDS: ReadonlySet<string> = new Set([
  EVENT.commandCompleted,
  EVENT.commandFailed,
  EVENT.commandCancelled,
])

export const standingOfImported = (facts: readonly ImportedFact[]): ImportedStanding => {
  const ofType = (...types: readonly string[]): readonly ImportedFact[] =>
    facts.filter((fact) => types.includes(canonicalEventType(fact.event_type)))
  const entered = stepsOf(ofType(EVENT.stepEnter))
  const completed = stepsOf(
    ofType(EVENT.stepExit, EVENT.commandCompleted).filter((fact) => COMPLETED_WORDS.has(wordOf(fact))),
  )
  const failed = stepsOf(facts.filter((fact) => wordOf(fact) === 'FAILED'))
  const started = stepsOf(
    ofType(EVENT.commandClaimed, EVENT.commandStarted).filter((fact) => RUNNING_WORDS.has(wordOf(fact))),
  )
  const running = [...started].filter((step) => !completed.has(step) && !failed.has(step))
  const last = newestOf(facts.filter((fact) => terminalStatusOf(fact.event_type) !== null))
  const status = last
    ? (terminalStatusOf(last.event_type) ?? 'RUNNING')
    : guess(facts, entered, completed, inFlight(facts))
  const isOver = status !== 'RUNNING'
  return {
    status,
    finishedAt: isOver ? ((last ?? newestOf(facts))?.newest_at ?? null) : null,
    totalSteps: entered.size,
    completedSteps: completed.size,
    runningSteps: isOver ? 0 : running.length,
    failedSteps: failed.size,
    currentStep: newestOf(ofType(EVENT.stepEnter, EVENT.commandStarted))?.node_name ?? null,
    error:
      status === 'FAILED' || status === 'CANCELLED'
        ? (last?.error ?? newestOf(facts.filter((fact) => fact.error !== null))?.error ?? null)
        : null,
  }
}

const guess = (
  facts: readonly ImportedFact[],
  entered: ReadonlySet<string>,
  completed: ReadonlySet<string>,
  commands: number,
): ExecutionStatus => {
  if (facts.some((fact) => wordOf(fact) === 'FAILED')) return 'FAILED'
  const isDone = entered.size > 0 && [...entered].every((step) => completed.has(step)) && commands <= 0
  return isDone ? 'COMPLETED' : 'RUNNING'
}

/** Commands that were issued and have not ended. */
const inFlight = (facts: readonly ImportedFact[]): number =>
  facts.reduce((open, fact) => {
    const type = canonicalEventType(fact.event_type)
    if (type === EVENT.commandIssued) return open + fact.count
    return COMMAND_ENDS.has(type) ? open - fact.count : open
  }, 0)

const wordOf = ({ status }: ImportedFact): string => (status ?? '').toUpperCase()

const stepsOf = (facts: readonly ImportedFact[]): ReadonlySet<string> =>
  new Set(
    facts.flatMap(({ node_name }) => (node_name === null || node_name === 'playbook' ? [] : [node_name])),
  )

const newestOf = (facts: readonly ImportedFact[]): ImportedFact | undefined =>
  facts.reduce<ImportedFact | undefined>((newest, fact) => {
    if (!newest || fact.newest_at > newest.newest_at) return fact
    if (fact.newest_at < newest.newest_at) return newest
    return BigInt(fact.newest_id) > BigInt(newest.newest_id) ? fact : newest
  }, undefined)
