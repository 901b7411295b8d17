/**
 * What can be known of a workflow without running it: which arcs close a cycle, what joins wait for, what can
 * still be reached. Computed once per playbook; the expensive parts on first use.
 *
 * 1. An arc u -> t is a back arc when t is u itself or an ancestor of u in the depth-first walk from the entry
 *    (steps and arcs in declaration order). All other arcs are forward; only their sources take part in joins.
 * 2. `mayStillReach(join, upstream)` holds the steps whose life keeps `upstream` possible for that join: the
 *    upstream itself and everything with a path to it that does not pass through the join.
 */
import type { Arc, Playbook, Step } from '../playbook/model.ts'

export interface Graph {
  readonly playbook: Playbook
  step(name: string): Step
  /** Position in the workflow, for a stable order. */
  order(name: string): number
  /** Position in the depth-first walk; unreachable steps come last. */
  walkOrder(name: string): number
  forwardUpstreams(name: string): readonly string[]
  mayStillReach(join: string, upstream: string): ReadonlySet<string>
  /** Steps reachable from a step by one or more arcs. */
  reachable(name: string): ReadonlySet<string>
}

export const createGraph = (playbook: Playbook): Graph => {
  const steps = new Map(playbook.steps.map((step) => [step.name, step]))
  const order = new Map(playbook.steps.map((step, index) => [step.name, index]))
  const targets = (name: string): readonly string[] => (steps.get(name)?.arcs ?? []).map((arc: Arc) => arc.to)
  const { backArcs, walk } = walkFrom(playbook.entry, targets)
  const forward = new Map<string, string[]>(playbook.steps.map((step) => [step.name, []]))
  const sources = new Map<string, string[]>(playbook.steps.map((step) => [step.name, []]))
  for (const step of playbook.steps) {
    for (const to of new Set(targets(step.name))) {
      sources.get(to)?.push(step.name)
      if (to !== step.name && !backArcs.has(arcKey(step.name, to))) forward.get(to)?.push(step.name)
    }
  }
  const memo = new Map<string, ReadonlySet<string>>()
  const once = (key: string, compute: () => ReadonlySet<string>): ReadonlySet<string> => {
    let value = memo.get(key)
    if (!value) memo.set(key, (value = compute()))
    return value
  }
  return {
    playbook,
    step: (name) => {
      const step = steps.get(name)
      if (!step) throw new Error(`step '${name}' is not in the playbook`)
      return step
    },
    order: (name) => order.get(name) ?? Number.MAX_SAFE_INTEGER,
    walkOrder: (name) => walk.get(name) ?? Number.MAX_SAFE_INTEGER,
    forwardUpstreams: (name) => forward.get(name) ?? [],
    mayStillReach: (join, upstream) =>
      once(`up ${arcKey(join, upstream)}`, () =>
        closure([upstream], (name) => (sources.get(name) ?? []).filter((source) => source !== join)),
      ),
    reachable: (name) => once(`down ${name}`, () => closure(targets(name), targets)),
  }
}

/** Step names may hold any character; JSON keeps the pair unambiguous. */
const arcKey = (from: string, to: string): string => JSON.stringify([from, to])

const closure = (
  from: readonly string[],
  neighbours: (name: string) => readonly string[],
): ReadonlySet<string> => {
  const found = new Set(from)
  for (const name of found) for (const next of neighbours(name)) found.add(next)
  return found
}

/** Iterative depth-first walk: deep chains must not exhaust the stack. */
const walkFrom = (entry: string, targets: (name: string) => readonly string[]) => {
  const backArcs = new Set<string>()
  const walk = new Map<string, number>([[entry, 0]])
  const onPath = new Set([entry])
  const stack = [{ name: entry, arcs: targets(entry), next: 0 }]
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const to = top.arcs[top.next++]
    if (to === undefined) {
      onPath.delete(top.name)
      stack.pop()
    } else if (onPath.has(to)) {
      backArcs.add(arcKey(top.name, to))
    } else if (!walk.has(to)) {
      walk.set(to, walk.size)
      onPath.add(to)
      stack.push({ name: to, arcs: targets(to), next: 0 })
    }
  }
  return { backArcs, walk }
}
