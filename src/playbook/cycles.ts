/**
 * Cycles that no arc leads out of: whoever enters one goes round until the limit of step runs fails the execution.
 *
 * 1. Only what cannot be meant counts. A step is taken to end a cycle when it has no arc, any condition (of its own, of an arc, of
 *    its admission), a rule that fails, or is the final step; a cycle from which such a step can be reached is none of ours.
 * 2. A cycle is told once, at its first step in workflow order, by the shortest way round from there. Of cycles that
 *    lead into each other, the innermost is told: the one that no arc leaves.
 * 3. The cost grows with the number of steps and arcs, however they are laid; nothing recurses.
 */
import type { Playbook, Step } from './model.ts'

type Neighbours = (name: string) => readonly string[]

/** The steps of each endless cycle that can be reached, in the order they run. */
export const endlessCycles = (playbook: Playbook): readonly (readonly string[])[] => {
  const { steps, entry, executor } = playbook
  const targets = new Map(steps.map(({ name, arcs }) => [name, arcs.map(({ to }) => to)]))
  const sources = new Map<string, string[]>(steps.map(({ name }) => [name, []]))
  for (const [name, reached] of targets) for (const to of reached) sources.get(to)?.push(name)
  const after: Neighbours = (name) => targets.get(name) ?? []
  const before: Neighbours = (name) => sources.get(name) ?? []

  const enders = steps.filter((step) => mayEnd(step) || step.name === executor.finalStep)
  const safe = closure(
    enders.map(({ name }) => name),
    before,
  )
  const reachable = closure([entry], after)
  const caught = steps.map(({ name }) => name).filter((name) => reachable.has(name) && !safe.has(name))
  const first = new Map<ReadonlySet<string>, string>()
  const groups = groupsOf(caught, after, before)
  for (const name of caught) {
    const group = groups.get(name)
    if (group !== undefined && !first.has(group)) first.set(group, name)
  }
  return [...first].flatMap(([group, name]) =>
    [...group].every((each) => after(each).every((to) => group.has(to))) ? [wayRound(name, after)] : [],
  )
}

const mayEnd = ({ arcs, when, admit, body }: Step): boolean =>
  arcs.length === 0 ||
  when !== null ||
  admit.length > 0 ||
  arcs.some((arc) => arc.when !== null) ||
  body.tasks.some(({ rules }) => rules.some((rule) => rule.do === 'fail'))

/** The names and everything that can be reached from them. */
const closure = (from: readonly string[], neighbours: Neighbours): ReadonlySet<string> => {
  const found = new Set(from)
  // A set may grow while it is walked; each step is visited once.
  for (const name of found) for (const next of neighbours(name)) found.add(next)
  return found
}

/** For each step, the steps that it reaches and that reach it. All that can be reached from the names is among them. */
const groupsOf = (
  names: readonly string[],
  after: Neighbours,
  before: Neighbours,
): ReadonlyMap<string, ReadonlySet<string>> => {
  const among = new Set(names)
  const groups = new Map<string, ReadonlySet<string>>()
  // Walked backwards from the step that was left last, a group meets only itself and groups that are known.
  for (const name of leavingOrder(names, after).toReversed()) {
    if (groups.has(name)) continue
    const group = closure([name], (each) =>
      before(each).filter((source) => among.has(source) && !groups.has(source)),
    )
    for (const each of group) groups.set(each, group)
  }
  return groups
}

/** The order in which a depth-first walk leaves the steps. */
const leavingOrder = (names: readonly string[], after: Neighbours): readonly string[] => {
  const entered = new Set<string>()
  const left: string[] = []
  for (const start of names) {
    const path = entered.has(start) ? [] : [{ name: start, next: 0 }]
    entered.add(start)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const to = after(top.name)[top.next++]
      if (to === undefined) {
        left.push(top.name)
        path.pop()
      } else if (!entered.has(to)) {
        entered.add(to)
        path.push({ name: to, next: 0 })
      }
    }
  }
  return left
}

/** The shortest way from a step back to it. */
const wayRound = (start: string, after: Neighbours): readonly string[] => {
  const cameFrom = new Map<string, string>()
  const reached = new Set(after(start))
  for (const name of reached) cameFrom.set(name, start)
  for (const name of reached) {
    if (name === start) break
    for (const next of after(name)) {
      if (reached.has(next)) continue
      cameFrom.set(next, name)
      reached.add(next)
    }
  }
  const way = [start]
  for (let name = cameFrom.get(start); name !== undefined && name !== start; name = cameFrom.get(name))
    way.push(name)
  return [start, ...way.slice(1).reverse()]
}
