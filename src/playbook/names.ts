/**
 * Names: which ones templates may read, which ones are taken by the engine, and which steps nothing leads to.
 * All of this is advice (warnings): a name may come from the payload of a run.
 */
import type { ReadContext } from './context.ts'
import type { Playbook } from './model.ts'
import type { At } from './report.ts'
import { didYouMean } from './suggest.ts'
import type { NameUse } from './template-check.ts'

/** Root names that the engine itself provides; user names that collide shadow or are shadowed. */
const RESERVED_ROOTS: ReadonlySet<string> = new Set([
  'ctx',
  'workload',
  'steps',
  'output',
  'event',
  'result',
  'response',
  'error',
  'outcome',
  'iter',
  'loop',
  'loop_index',
  '_index',
  '_total',
  '_attempt',
  '_prev',
  '_task',
  '_context_updates',
  'results',
  'keychain',
  'job',
  'execution_id',
  'catalog_id',
  'path',
  'version',
  'parent_execution_id',
  'payload',
  'input',
  'args',
  'step',
  'node_name',
  'action',
  'server_url',
  'worker_id',
  'command_id',
  '__frame_max_rows',
  'frame',
])

const FUNCTIONS = ['now', 'uuid4', 'range', 'dict', 'namespace', 'debug']

/** Reserved roots that a user's own value simply replaces, so that using them as a name does no harm. */
const YIELDING_ROOTS = new Set([
  'path',
  'version',
  'error',
  'response',
  'frame',
  'results',
  'payload',
  'action',
])

export const warnReservedName = (what: string, name: string, at: At, context: ReadContext): void => {
  if (!RESERVED_ROOTS.has(name) || YIELDING_ROOTS.has(name)) return
  const message = `${what} '${name}' has the name of something templates already know; rename it`
  context.report.warn('reserved-name', at, message)
}

export const warnStepName = (name: string, at: At, context: ReadContext): void => {
  warnReservedName('the step name', name, at, context)
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return
  const message = `the step name '${name}' is not an identifier, so templates cannot read its result; use letters, digits and _`
  context.report.warn('step-name', at, message)
}

export const warnUnknownNames = (context: ReadContext): void => {
  const known = new Set([...context.defined, ...context.stepNames, ...RESERVED_ROOTS, ...FUNCTIONS])
  const candidates = [
    ...context.defined,
    ...context.stepNames,
    'ctx',
    'workload',
    'output',
    'iter',
    'execution_id',
    'keychain',
  ]
  for (const use of context.templates.uses) {
    if (use.name === 'keychain') warnSecretOutsideTools(use, context)
    if (known.has(use.name) || isGuarded(use)) continue
    const message = `'${use.name}' is not defined in this playbook.${didYouMean(use.name, candidates)}`
    context.report.warn('unknown-name', use.at(), message)
  }
}

/** Where a template is rendered by a worker, which is the only one to have secrets. */
const OF_TOOLS = /^workflow\[\d+\]\.(?:tool|input|args|with)\b|^workbook\b|^keychain\b/

const warnSecretOutsideTools = (use: NameUse, context: ReadContext): void => {
  const at = use.at()
  if (OF_TOOLS.test(at.path)) return
  context.report.warn('keychain-outside-tools', at, "'keychain' is known to tools only; here it is undefined")
}

/** `x | default(…)` and `x is defined` say themselves that the name may be missing. */
const isGuarded = ({ name, template }: NameUse): boolean => {
  const escaped = name.replace(/[$]/g, '\\$&')
  const guard = String.raw`(?<![\w.])${escaped}(\.\w+|\[[^\]]*\])*\s*(\|\s*(default|d)\b|is\s+(not\s+)?(un)?defined\b)`
  return new RegExp(guard).test(template)
}

/** Steps that no path of arcs connects with the entry. */
export const unreachableSteps = (playbook: Playbook): readonly string[] => {
  const arcs = new Map(playbook.steps.map((step) => [step.name, step.arcs]))
  const reached = new Set([playbook.entry])
  if (playbook.executor.finalStep !== null) reached.add(playbook.executor.finalStep)
  // A set may grow while it is walked; each step is visited once.
  for (const name of reached) for (const arc of arcs.get(name) ?? []) reached.add(arc.to)
  return playbook.steps.map((step) => step.name).filter((name) => !reached.has(name))
}
