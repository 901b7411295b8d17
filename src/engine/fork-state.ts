/**
 * What a fork takes over, as data, and the fold of the events that record it.
 *
 * 1. The log of a fork says everything itself: what was kept stands in its own events, so that its state is the fold
 *    of its log and the origin need not exist any more.
 * 2. A step without anything worth keeping is not kept: it counts as never run.
 */
import type { ToolError } from '../contract/command.ts'
import type { EventRecord } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { goOn } from './reopen-state.ts'
import type { LoopState, State, StepOutcome, Token } from './state.ts'
import { stepOf, textOr } from './state.ts'

export interface Seed {
  readonly vars: JsonObject
  readonly kept: readonly KeptStep[]
  readonly frontier: Frontier
}

export interface KeptStep {
  readonly name: string
  readonly run: number
  readonly entered: boolean
  readonly outcome: StepOutcome | null
  readonly handled: boolean
  readonly looped: boolean
  readonly data: Json | undefined
  readonly error: ToolError | null
  /** A loop that goes on. */
  readonly loop: LoopState | null
}

/** Where the fork goes on: steps about to start, and those whose arcs are not decided yet. */
export interface Frontier {
  readonly tokens: readonly Token[]
  readonly settled: readonly string[]
  readonly dead: readonly string[]
  readonly currentStep: string | null
  readonly lastCompleted: string | null
}

export const keptFacts = (step: KeptStep): JsonObject => ({
  run: step.run,
  entered: step.entered,
  outcome: step.outcome,
  ...(step.handled ? { handled: true } : {}),
  ...(step.looped ? { looped: true } : {}),
  ...(step.data === undefined ? {} : { data: step.data }),
  ...(step.error ? { error: { ...step.error } } : {}),
  ...(step.loop ? { loop: loopFacts(step.loop) } : {}),
})

const loopFacts = (loop: LoopState): JsonObject => ({
  items: loop.items,
  window: loop.window,
  on_error: loop.continueOnError ? 'continue' : 'fail',
  next: loop.next,
  done: loop.done,
  again: loop.again,
  results: loop.results,
})

export const frontierFacts = ({ tokens, settled, dead, ...rest }: Frontier): JsonObject => ({
  tokens: tokens.map(({ from, to }) => ({ from, to })),
  settled,
  dead,
  current_step: rest.currentStep,
  last_completed: rest.lastCompleted,
})

const OUTCOMES: ReadonlySet<string> = new Set(['ok', 'error', 'skipped', 'bypassed'])

export const keepStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  const facts = event.result?.context
  if (name === null || !facts) return
  const step = stepOf(state, name)
  const outcome = textOr(facts['outcome'], '')
  step.run = countOf(facts['run'])
  step.entered = facts['entered'] === true
  step.outcome = OUTCOMES.has(outcome) ? (outcome as StepOutcome) : null
  step.handled = facts['handled'] === true
  step.looped = facts['looped'] === true
  step.data = facts['data']
  step.error = isObject(facts['error']) ? (facts['error'] as unknown as ToolError) : null
  step.settledBy = event.eventId
  if (step.entered) state.counts.entered += 1
  if (step.outcome === 'ok') state.counts.completed += 1
  if (step.outcome === 'error') state.counts.failed += 1
  if (isObject(facts['loop'])) goOn(state, name, step, loopOf(facts['loop']))
}

const loopOf = (facts: JsonObject): LoopState => {
  const items = listOf(facts['items'])
  return {
    items,
    total: items.length,
    window: Math.max(1, countOf(facts['window'])),
    continueOnError: facts['on_error'] === 'continue',
    next: countOf(facts['next']),
    outstanding: 0,
    done: countOf(facts['done']),
    failed: 0,
    results: [...listOf(facts['results'])],
    again: listOf(facts['again']).filter((index) => typeof index === 'number'),
    failedAt: [],
    error: null,
  }
}

export const seed = (state: State, event: EventRecord): void => {
  const facts = event.result?.context ?? {}
  for (const token of listOf(facts['tokens'])) {
    if (isObject(token)) state.tokens.push({ from: textOr(token['from'], ''), to: textOr(token['to'], '') })
  }
  for (const name of namesOf(facts['settled'])) {
    stepOf(state, name).phase = 'settled'
    state.settled.push(name)
  }
  for (const name of namesOf(facts['dead'])) state.deadTargets.add(name)
  state.currentStep = typeof facts['current_step'] === 'string' ? facts['current_step'] : null
  state.lastCompleted = typeof facts['last_completed'] === 'string' ? facts['last_completed'] : null
}

const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const namesOf = (value: Json | undefined): readonly string[] =>
  listOf(value).filter((name) => typeof name === 'string')
