/**
 * The engine against the obvious definition, on random workflows without cycles and loops.
 *
 * Read recursively along the arcs, with no notion of time:
 *
 * 1. A step is reached when it is the entry or one of its incoming arcs fired.
 * 2. A step is tainted when it ran and failed unhandled, or when it did not run and a step before it is tainted.
 * 3. A step is active when it is reached and no step directly before it is tainted. Its own guard then says
 *    whether it runs or is bypassed; either way its arcs are decided.
 * 4. Of an active step the arcs whose guard holds fire, in exclusive mode the first of them. After a failure only
 *    guards that read the outcome count, unless the step goes on over errors.
 * 5. A failure is handled when an arc fired or the step goes on over errors; the execution fails when one is not.
 *
 * The order in which workers answer must not matter.
 */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/json.ts'
import type { Playbook, Step } from '../playbook/model.ts'
import type { Graph } from './graph.ts'
import { completed, failed, started } from './testing/inputs.ts'
import { graphOf } from './testing/playbook.ts'
import { createRandom } from './testing/random.ts'
import type { Random } from './testing/random.ts'
import { randomFlags, randomPlaybook } from './testing/random-playbook.ts'
import { createSimulation } from './testing/simulation.ts'

interface World {
  readonly flags: JsonObject
  /** What the tool of each step answers; null is a failure. */
  readonly answers: ReadonlyMap<string, { ok: boolean; n: number } | null>
}

type Ending = 'done' | 'failed' | 'bypassed'

/** The guards of random playbooks, said in TypeScript. */
const holds = (
  guard: string | null,
  ending: Ending,
  answer: { ok: boolean; n: number } | null,
  flags: JsonObject,
): boolean => {
  switch (guard) {
    case null:
      return true
    case '{{ output.ok }}':
      return answer?.ok === true
    case '{{ output.n > 1 }}':
      return answer !== null && answer.n > 1
    case "{{ output.status == 'error' }}":
      return ending === 'failed'
    case "{{ event.name == 'step.done' }}":
      return ending === 'done'
    case "{{ event.name == 'step.skipped' or error is defined }}":
      return ending !== 'done'
    default: {
      const [, not, flag = ''] = /^\{\{ (not )?(f\d) \}\}$/.exec(guard) ?? []
      if (!(flag in flags)) throw new Error(`a guard that the reference does not know: ${guard}`)
      return (flags[flag] === true) !== (not !== undefined)
    }
  }
}

const evaluate = ({ steps, entry }: Playbook, { flags, answers }: World) => {
  const endings = new Map<string, Ending | null>()
  const stepNamed = (name: string): Step => steps.find((step) => step.name === name) as Step
  const before = (name: string): readonly Step[] =>
    steps.filter((step) => step.arcs.some((arc) => arc.to === name))

  const ending = (name: string): Ending | null => {
    const seen = endings.get(name)
    if (seen !== undefined) return seen
    const reached = name === entry || before(name).some((step) => fired(step).includes(name))
    const isActive = reached && !before(name).some((step) => isTainted(step))
    const { when, body } = stepNamed(name)
    const outcome = body.kind !== 'none' && answers.get(name) === null ? 'failed' : 'done'
    const result = isActive ? (holds(when, 'done', null, flags) ? outcome : 'bypassed') : null
    endings.set(name, result)
    return result
  }
  const fired = (step: Step): readonly string[] => {
    const end = ending(step.name)
    if (end === null) return []
    const eligible = step.arcs.filter(
      ({ when }) => end !== 'failed' || step.onError === 'continue' || /output|event|error/.test(when ?? ''),
    )
    const answer = end === 'done' && step.body.kind !== 'none' ? (answers.get(step.name) ?? null) : null
    const open = eligible
      .filter(({ when }) => step.mode === 'all' || holds(when, end, answer, flags))
      .map((arc) => arc.to)
    return step.mode === 'exclusive' ? open.slice(0, 1) : open
  }
  const isUnhandled = (step: Step): boolean =>
    ending(step.name) === 'failed' && step.onError !== 'continue' && fired(step).length === 0
  const isTainted = (step: Step): boolean =>
    isUnhandled(step) || (ending(step.name) === null && before(step.name).some(isTainted))

  const names = (wanted: (step: Step) => boolean): readonly string[] =>
    steps
      .filter(wanted)
      .map((step) => step.name)
      .sort()
  return {
    ran: names((step) => ['done', 'failed'].includes(ending(step.name) ?? '')),
    bypassed: names((step) => ending(step.name) === 'bypassed'),
    failedUnhandled: names(isUnhandled),
    status: steps.some(isUnhandled) ? 'FAILED' : 'COMPLETED',
  }
}

const observe = (graph: Graph, { flags, answers }: World, order: Random) => {
  const simulation = createSimulation(graph)
  simulation.tell(started(flags))
  while (simulation.status() === 'RUNNING') {
    const name = order.pick(simulation.open())
    const answer = answers.get(name)
    simulation.tell(answer === null ? failed(name) : completed(name, answer))
  }
  const steps = [...simulation.state().steps]
  return {
    ran: [...simulation.runs()].sort(),
    bypassed: steps
      .filter(([, step]) => step.outcome === 'bypassed')
      .map(([name]) => name)
      .sort(),
    failedUnhandled: simulation
      .state()
      .failures.map(({ step }) => step)
      .sort(),
    status: simulation.status(),
  }
}

const GRAPHS = Number(process.env['ENGINE_SEEDS'] ?? 700)

describe('random workflows without cycles', () => {
  it(
    `run exactly the steps of the definition, in any order of answers, in ${GRAPHS} cases`,
    { timeout: 60_000 + GRAPHS * 100 },
    () => {
      for (let seed = 1; seed <= GRAPHS; seed += 1) {
        const random = createRandom(seed)
        const text = randomPlaybook(random, { maxSteps: 14, cycles: false, loops: false, extras: false })
        const graph = graphOf(text)
        const { playbook } = graph
        const failureRate = random.pick([0, 0.1, 0.3])
        const answers = new Map(
          playbook.steps.map(({ name }) => [
            name,
            random.chance(failureRate) ? null : { ok: random.chance(0.5), n: random.below(4) },
          ]),
        )
        const world: World = { flags: randomFlags(random), answers }
        const expected = evaluate(playbook, world)
        for (const order of [1, 2, 3]) {
          expect(
            observe(graph, world, createRandom(seed * 1000 + order)),
            `seed ${seed}, order ${order}\n${text}`,
          ).toEqual(expected)
        }
      }
    },
  )
})
