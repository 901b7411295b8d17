/**
 * Which steps may start. A step with waiting tokens starts once no upstream that is still possible could bring
 * another one; an upstream that can no longer run does not hold it up.
 *
 * 1. Ready: has tokens, is not active, and no forward upstream without a token of its own can still run.
 * 2. Blocked: a forward upstream failed and nobody handled it, or never ran because it was blocked itself.
 * 3. When nothing runs and nothing is ready, the pending target that comes first in the walk starts.
 */
import type { Graph } from './graph.ts'
import type { State } from './state.ts'

/** Next step to start, in workflow order; null when none may. */
export const nextReady = (graph: Graph, state: State): string | null => {
  if (state.tokens.length === 0) return null
  const waiting = [...new Set(state.tokens.map((token) => token.to))].filter((name) => !isActive(state, name))
  const ready = waiting.filter((name) => isReady(graph, state, name))
  if (ready.length > 0) return first(ready, (name) => graph.order(name))
  const idle = state.running.size === 0 && state.settled.length === 0
  return idle && waiting.length > 0 ? first(waiting, (name) => graph.walkOrder(name)) : null
}

const first = (names: readonly string[], order: (name: string) => number): string =>
  names.reduce((best, name) => (order(name) < order(best) ? name : best))

const isActive = (state: State, name: string): boolean =>
  state.running.has(name) || state.settled.includes(name)

const isReady = (graph: Graph, state: State, name: string): boolean => {
  const upstreams = graph.forwardUpstreams(name)
  if (upstreams.length === 0) return true
  const arrived = new Set(state.tokens.filter((token) => token.to === name).map((token) => token.from))
  return upstreams.every((upstream) => arrived.has(upstream) || !canStillRun(graph, state, name, upstream))
}

const canStillRun = (graph: Graph, state: State, join: string, upstream: string): boolean => {
  const sources = graph.mayStillReach(join, upstream)
  return someLive(state, (name) => name !== join && sources.has(name))
}

/** Anything that still moves: running, settled but not routed, or about to start. */
const someLive = (state: State, test: (name: string) => boolean): boolean => {
  for (const name of state.running) if (test(name)) return true
  return state.settled.some(test) || state.tokens.some((token) => test(token.to))
}

export const isAlive = (graph: Graph, state: State, name: string): boolean =>
  someLive(state, (live) => live === name || graph.reachable(live).has(name))

export const isBlocked = (graph: Graph, state: State, name: string): boolean => {
  if (state.failures.length === 0) return false
  const seen = new Set<string>()
  const tainted = (step: string): boolean => {
    if (seen.has(step)) return false
    seen.add(step)
    const run = state.steps.get(step)
    if (run?.blocked) return true
    if (run?.outcome === 'error') return !run.handled && run.phase === 'rest'
    return !run?.run && graph.forwardUpstreams(step).some(tainted)
  }
  return graph.forwardUpstreams(name).some(tainted)
}

export const isQuiescent = (state: State): boolean =>
  state.running.size === 0 && state.settled.length === 0 && state.tokens.length === 0
