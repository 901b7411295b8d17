/** What is known of a step's commands before any of them is built; computed once per step. */
import type { Json, JsonObject } from '../contract/json.ts'
import type { PolicyRule, SetEntry, Step, Task } from '../playbook/model.ts'
import type { FoundTemplate } from '../template/render.ts'
import { collectTemplates } from '../template/render.ts'
import { compileTemplate, hasTemplateSyntax } from '../template/template.ts'

export interface CommandPlan {
  readonly toolKind: string
  /** The tasks run one after another on the worker, which renders them. */
  readonly pipeline: boolean
  /** A pipeline of one whose data is the step's data. */
  readonly unwrap: boolean
  readonly tasks: readonly Task[]
  /** The single task; the first one of a pipeline. */
  readonly task: Task
  /** The task's configuration; below `input` the part of the input that the worker renders. */
  readonly config: JsonObject
  /** The input that is rendered here: the task's over the step's. */
  readonly input: JsonObject
  /** Paths into the configuration that the worker renders. */
  readonly late: readonly (readonly (string | number)[])[]
  /** Names that late templates read. */
  readonly lateRoots: readonly string[]
  /** The task has program text in `code`. */
  readonly hasCode: boolean
  /** The worker may read any variable. */
  readonly needsEverything: boolean
}

const plans = new WeakMap<Step, CommandPlan>()

export const planOf = (step: Step): CommandPlan => {
  let plan = plans.get(step)
  if (!plan) plans.set(step, (plan = makePlan(step)))
  return plan
}

const makePlan = (step: Step): CommandPlan => {
  const tasks = withRetry(step)
  const task = tasks[0]
  if (!task) throw new Error('has no tool to run')
  const pipeline = step.body.kind === 'pipeline' || task.rules.length > 0 || task.set.length > 0
  const { input, config } = pipeline ? { input: {}, config: task.config } : splitSecretInput(step, task)
  const late = pipeline
    ? lateAuth(step, tasks)
    : collectTemplates(config).filter(({ text }) => readsSecrets(text))
  const sources = pipeline
    ? pipelineTemplates(step, tasks)
    : collectTemplates(config).flatMap(({ text }) => (readsSecrets(text) ? [text] : []))
  const roots = new Set(sources.flatMap(rootsOf))
  const everything = roots.delete(WHOLE_CONTEXT)
  roots.delete('keychain')
  return {
    toolKind: pipeline ? 'task_sequence' : task.kind,
    pipeline,
    unwrap: pipeline && step.body.kind === 'single',
    tasks,
    task,
    config,
    input,
    late: late.map(({ path }) => path),
    lateRoots: [...roots],
    hasCode: typeof task.config['code'] === 'string',
    needsEverything: everything || tasks.some(readsContext),
  }
}

/** `auth` of a task is rendered on the server, unless it reads the keychain or what only the running task has. */
const lateAuth = (step: Step, tasks: readonly Task[]): readonly Pick<FoundTemplate, 'path'>[] => {
  const made = tasks.flatMap(({ label, set, rules }) => [
    label,
    ...written(set),
    ...rules.flatMap((rule) => written(rule.set)),
  ])
  return tasks.flatMap(({ label, config, input }, index) => {
    const late = new Set([
      'keychain',
      '_prev',
      'input',
      'args',
      ...made,
      ...Object.keys({ ...step.input, ...input }),
    ])
    const reads = collectTemplates(config['auth'] ?? null).flatMap(({ text }) => rootsOf(text))
    return reads.some((root) => late.has(root)) ? [{ path: [index, label, 'auth'] }] : []
  })
}

/** The names under which templates read what a `set` writes. */
const written = (set: readonly SetEntry[]): readonly string[] =>
  set.map(({ scope, path }) => (scope === 'ctx' ? (path[0] ?? '') : scope))

const RETRY: PolicyRule = {
  when: "{{ output.status == 'error' }}",
  do: 'retry',
  attempts: 3,
  backoff: 'none',
  delay: 0,
  to: null,
  set: [],
}

/** `on_error: retry` without rules of its own: every task is tried three times. */
const withRetry = ({ body, onError }: Step): readonly Task[] =>
  onError === 'retry'
    ? body.tasks.map((task) => (task.rules.length > 0 ? task : { ...task, rules: [RETRY] }))
    : body.tasks

/** Input that reads secrets travels in the configuration, where late templates are; the rest is rendered here. */
const splitSecretInput = (step: Step, task: Task): Pick<CommandPlan, 'config' | 'input'> => {
  const entries = Object.entries({ ...step.input, ...task.input })
  const isSecret = ([, value]: readonly [string, Json]): boolean =>
    collectTemplates(value).some(({ text }) => readsSecrets(text))
  const secret = entries.filter(isSecret)
  if (secret.length === 0) return { config: task.config, input: Object.fromEntries(entries) }
  return {
    config: { ...task.config, input: Object.fromEntries(secret) },
    input: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
  }
}

/** Templates that do not compile were reported at registration; they are left to whoever renders them. */
const rootsOf = (text: string): readonly string[] => {
  try {
    const { roots, paths } = compileTemplate(text)
    // `ctx.page` reads the variable `page`; `ctx` alone reads all of them.
    const members = paths.filter(([root]) => root === 'ctx').map(([, member]) => member ?? WHOLE_CONTEXT)
    return [...[...roots].filter((root) => root !== 'ctx'), ...members]
  } catch {
    return []
  }
}

const WHOLE_CONTEXT = 'ctx'

/** True when any template in the value reads the keychain: then only the worker may render it. */
const readsSecrets = (value: Json): boolean =>
  collectTemplates(value).some(({ text }) => rootsOf(text).includes('keychain'))

const pipelineTemplates = (step: Step, tasks: readonly Task[]): readonly string[] => {
  const conditions = tasks
    .flatMap((task) => task.rules.map(({ when }) => when))
    .filter((when) => typeof when === 'string')
  const values: Json = [
    step.input,
    tasks.map((task) => [task.config, task.input, task.set.map((entry) => entry.value)]),
    tasks.flatMap((task) =>
      task.rules.map((rule) => [rule.delay, rule.attempts, rule.set.map((entry) => entry.value)]),
    ),
  ]
  return [
    ...collectTemplates(values).map(({ text }) => text),
    ...conditions.map((when) => (hasTemplateSyntax(when) ? when : `{{ ${when} }}`)),
  ]
}

/** Python code gets the variables as `context` or `variables`; which ones it reads cannot be told. */
const readsContext = (task: Task): boolean => {
  const code = task.config['code']
  return typeof code === 'string' && /\b(?:context|variables)\b/.test(code)
}
