/** The fold of what happens to steps: entered, skipped, settled, left. */
import type { EventRecord } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import type { CursorState, LoopState, State, StepOutcome, StepState } from './state.ts'
import { stepOf } from './state.ts'

export const enterStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  if (name === null) return
  const context = event.result?.context ?? {}
  const step = activate(state, name)
  if (!step.entered) state.counts.entered += 1
  step.entered = true
  step.phase = 'running'
  state.running.add(name)
  state.currentStep = name
  if (event.meta['final'] === true) state.finalStepEntered = true
  const items = context['items']
  step.stopped = null
  step.loop = Array.isArray(items) ? openLoop(items, context['window'], context['on_error']) : null
  step.cursor = context['__cursor_loop'] === true ? openCursor(context['window'], context['on_error']) : null
  if (step.loop?.total === 0) settleLoop(state, name, step, step.loop, event.eventId)
  else if (context['tool'] === false) settle(state, name, step, event.eventId, 'ok')
}

/** A new run of the step: its waiting tokens are used up. */
const activate = (state: State, name: string): StepState => {
  const step = stepOf(state, name)
  step.run += 1
  step.blocked = false
  state.stepRuns += 1
  state.deadTargets.delete(name)
  if (state.tokens.some((token) => token.to === name)) {
    state.tokens = state.tokens.filter((token) => token.to !== name)
  }
  return step
}

const openLoop = (
  items: readonly Json[],
  window: Json | undefined,
  onError: Json | undefined,
): LoopState => ({
  items,
  total: items.length,
  window: typeof window === 'number' ? window : 1,
  continueOnError: onError === 'continue',
  next: 0,
  outstanding: 0,
  done: 0,
  failed: 0,
  results: Array.from({ length: items.length }, () => null),
  again: [],
  failedAt: [],
  error: null,
})

const openCursor = (window: Json | undefined, onError: Json | undefined): CursorState => ({
  window: typeof window === 'number' ? window : 1,
  continueOnError: onError === 'continue',
  frame: 0,
  rows: null,
  claiming: false,
  next: 0,
  outstanding: 0,
  done: 0,
  processed: 0,
  failed: 0,
  error: null,
})

export const skipStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  if (name === null) return
  const reason = event.result?.context?.['reason']
  if (reason === 'guard') {
    const step = activate(state, name)
    if (event.meta['final'] === true) state.finalStepEntered = true
    step.error = null
    settle(state, name, step, event.eventId, 'bypassed')
    return
  }
  state.deadTargets.delete(name)
  const step = stepOf(state, name)
  if (reason === 'upstream_failed') {
    state.dropped.push(...state.tokens.filter((token) => token.to === name))
    state.tokens = state.tokens.filter((token) => token.to !== name)
    step.blocked = true
  }
  if (step.run === 0) step.outcome = 'skipped'
  markDead(state, event.result?.context?.['dead'])
}

/** Targets of dead arcs that never ran and were not reported yet. */
const markDead = (state: State, names: Json | undefined): void => {
  if (!Array.isArray(names)) return
  for (const name of names) {
    if (typeof name !== 'string') continue
    const step = state.steps.get(name)
    if (!step || (step.run === 0 && step.outcome === null)) state.deadTargets.add(name)
  }
}

export const exitStep = (state: State, event: EventRecord): void => {
  const name = event.nodeName
  if (name === null) return
  const context = event.result?.context ?? {}
  const step = stepOf(state, name)
  step.phase = 'rest'
  state.settled = state.settled.filter((settled) => settled !== name)
  const next = Array.isArray(context['next']) ? context['next'] : []
  for (const to of next) if (typeof to === 'string') state.tokens.push({ from: name, to })
  markDead(state, context['dead'])
  step.handled = context['handled'] === true
  if (event.result?.status === 'FAILED' && !step.handled) {
    state.failures.push({ step: name, error: event.error ?? step.error?.message ?? 'failed' })
  }
}

/** A loop that failed issues nothing more. */
export const isStopped = (loop: LoopState | CursorState): boolean =>
  loop.error !== null && !loop.continueOnError

export const settleLoop = (
  state: State,
  name: string,
  step: StepState,
  loop: LoopState,
  eventId: string,
): void => {
  const { total, done, failed } = loop
  step.data = { results: loop.results, stats: { total, success: done - failed, failed } }
  step.looped = true
  step.loop = null
  const failedLoop = isStopped(loop)
  step.stopped = failedLoop ? loop : null
  step.error = failedLoop ? loop.error : null
  settle(state, name, step, eventId, failedLoop ? 'error' : 'ok')
}

/** The queue behind the cursor is empty, cannot be asked, or a row failed and the loop does not go on over failures. */
export const settleCursor = (
  state: State,
  name: string,
  step: StepState,
  cursor: CursorState,
  eventId: string,
  stopped = isStopped(cursor),
): void => {
  const { frame, processed, failed } = cursor
  step.data = {
    cursor: stopped ? 'stopped' : 'drained',
    frames: frame,
    rows: processed,
    stats: { total: processed, success: processed - failed, failed },
  }
  step.looped = false
  step.cursor = null
  step.error = stopped ? cursor.error : null
  settle(state, name, step, eventId, stopped ? 'error' : 'ok')
}

export const settle = (
  state: State,
  name: string,
  step: StepState,
  eventId: string,
  outcome: StepOutcome,
): void => {
  state.running.delete(name)
  state.settled.push(name)
  if (step.outcome === 'ok') state.counts.completed -= 1
  if (step.outcome === 'error') state.counts.failed -= 1
  if (outcome === 'ok') {
    state.counts.completed += 1
    if (step.data !== undefined) state.lastCompleted = name
  }
  if (outcome === 'error') state.counts.failed += 1
  step.phase = 'settled'
  step.outcome = outcome
  step.handled = false
  step.settledBy = eventId
}
