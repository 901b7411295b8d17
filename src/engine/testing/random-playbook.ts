/**
 * Random playbooks that always come to an end: forward arcs form no cycle, and every arc that leads back counts
 * how often it fired and stops after a few rounds.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { HEADER } from './playbook.ts'
import type { Random } from './random.ts'

export interface RandomPlaybookOptions {
  readonly maxSteps: number
  readonly cycles: boolean
  readonly loops: boolean
  /** final_step, no_next_is_error, fail_fast, variables, admission. */
  readonly extras: boolean
}

const FLAGS = ['f0', 'f1', 'f2'] as const

/** Overrides of the workload flags. */
export const randomFlags = (random: Random): JsonObject =>
  Object.fromEntries(FLAGS.map((flag) => [flag, random.chance(0.5)]))

export const randomPlaybook = (random: Random, options: RandomPlaybookOptions): string => {
  const count = 2 + random.below(options.maxSteps - 1)
  const names = Array.from({ length: count }, (_, index) => (index === 0 ? 'start' : `s${index}`))
  const steps = names.map((_, index) => randomStep(random, names, index, options))
  const document: JsonObject = {
    workload: { f0: true, f1: false, f2: true, items: [1, 2, 3] },
    executor: { spec: options.extras ? randomExecutor(random, names) : {} },
    // Workflow order need not be the order of the arcs; ties are decided by it.
    workflow: random.chance(0.5) ? steps : steps.toReversed(),
  }
  return `${HEADER}${Object.entries(document)
    .map(([key, value]) => `${key}: ${JSON.stringify(value, null, 1)}`)
    .join('\n')}`
}

const randomExecutor = (random: Random, names: readonly string[]): JsonObject => ({
  ...(random.chance(0.1) ? { final_step: random.pick(names) } : {}),
  ...(random.chance(0.1) ? { no_next_is_error: true } : {}),
  ...(random.chance(0.1) ? { policy: { failure: { mode: 'fail_fast' } } } : {}),
})

const randomStep = (
  random: Random,
  names: readonly string[],
  index: number,
  options: RandomPlaybookOptions,
): JsonObject => {
  const loop = options.loops && random.chance(0.2) ? randomLoop(random, index === 0) : null
  const router = loop === null && random.chance(0.2)
  return {
    step: names[index] ?? '',
    ...(router ? {} : { tool: { kind: 'noop', input: { seen: '{{ start }}', flag: '{{ ctx.f0 }}' } } }),
    ...(loop === null ? {} : { loop }),
    ...(random.chance(0.1) ? { when: randomFlagGuard(random) } : {}),
    ...(random.chance(0.15) ? { spec: { on_error: 'continue' } } : {}),
    ...(options.extras && random.chance(0.3)
      ? { set: { [`ctx.v${random.below(3)}.x`]: `{{ output }}-${index}` } }
      : {}),
    ...randomNext(random, names, index, options),
  }
}

const randomLoop = (random: Random, onEntry: boolean): JsonObject =>
  random.chance(0.35) ? randomCursor(random) : randomCollection(random, onEntry)

const randomCursor = (random: Random): JsonObject => ({
  cursor: { claim: 'take {{ __frame_max_rows }}' },
  iterator: 'item',
  spec: {
    mode: 'cursor',
    frame: { max_rows: 3, row_concurrency: 1 + random.below(3) },
    ...(random.chance(0.4) ? { on_error: 'continue' } : {}),
  },
})

const randomCollection = (random: Random, onEntry: boolean): JsonObject => ({
  in: random.pick<Json>(['{{ workload.items }}', [], ['a'], ['a', 'b', 'c', 'd'], onEntry ? [0] : '{{ 3 }}']),
  iterator: 'item',
  spec: {
    mode: random.pick(['sequential', 'parallel']),
    ...(random.chance(0.5) ? { max_in_flight: 1 + random.below(3) } : {}),
    ...(random.chance(0.4) ? { on_error: 'continue' } : {}),
  },
})

const randomNext = (
  random: Random,
  names: readonly string[],
  index: number,
  options: RandomPlaybookOptions,
): JsonObject => {
  const later = names.slice(index + 1)
  const arcs: JsonObject[] = []
  const forward = later.length === 0 || random.chance(0.1) ? 0 : 1 + random.below(3)
  // Mostly near targets: long paths and joins instead of everything ending at once.
  for (let left = forward; left > 0; left -= 1)
    arcs.push(randomArc(random, random.pick(random.chance(0.7) ? later.slice(0, 3) : later)))
  if (options.cycles && random.chance(0.3)) {
    arcs.splice(
      random.below(arcs.length + 1),
      0,
      countedArc(random.pick(names.slice(0, index + 1)), `c${index}`),
    )
  }
  if (arcs.length === 0) return {}
  if (arcs.every((arc) => arc['set'] === undefined) && random.chance(0.2))
    return { next: [...new Set(arcs.map((arc) => arc['step'] ?? null))] }
  return { next: { spec: { mode: random.pick(['exclusive', 'inclusive', 'inclusive']) }, arcs } }
}

const randomFlagGuard = (random: Random): string =>
  `{{ ${random.chance(0.5) ? '' : 'not '}${random.pick(FLAGS)} }}`

const randomArc = (random: Random, step: string): JsonObject => {
  const guard = random.chance(0.4)
    ? null
    : random.pick([
        randomFlagGuard(random),
        '{{ output.ok }}',
        '{{ output.n > 1 }}',
        "{{ output.status == 'error' }}",
        "{{ event.name == 'step.done' }}",
        "{{ event.name == 'step.skipped' or error is defined }}",
      ])
  return {
    step,
    ...(guard === null ? {} : { when: guard }),
    ...(random.chance(0.2) ? { set: { 'ctx.arc': step } } : {}),
  }
}

/** An arc back that fires at most twice. Reading the event makes it eligible for failures as well. */
const countedArc = (step: string, counter: string): JsonObject => ({
  step,
  when: `{{ (ctx.${counter} | default(0)) < 2 and event.name != 'none' }}`,
  set: { [`ctx.${counter}`]: `{{ (ctx.${counter} | default(0)) + 1 }}` },
})
