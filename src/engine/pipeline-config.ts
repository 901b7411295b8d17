/**
 * A pipeline as it travels: an ordered list of `{label: task}`. The worker renders it task by task, because
 * later tasks read what earlier ones produced; only `auth` is rendered here, since it names a credential of
 * the command as a whole, unless it reads what only the worker has.
 */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { PolicyRule, SetEntry, Step, Task } from '../playbook/model.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'
import type { CommandPlan } from './command-plan.ts'

export const pipelineConfig = (step: Step, { tasks, late }: CommandPlan, scope: Scope): Json =>
  tasks.map((task, index) => {
    const isLate = late.some(([position]) => position === index)
    return { [task.label]: taskConfig(step, task, isLate ? null : scope) }
  })

/** Without a scope its `auth` is left to the worker. */
const taskConfig = (step: Step, task: Task, scope: Scope | null): JsonObject => {
  const { auth, ...config } = task.config
  return {
    kind: task.kind,
    ...config,
    ...(auth === undefined ? {} : { auth: scope === null ? auth : renderValue(auth, scope) }),
    input: { ...step.input, ...task.input },
    ...(task.set.length > 0 ? { set: writtenSet(task.set) } : {}),
    ...(task.rules.length > 0
      ? {
          spec: {
            ...(isObject(config['spec']) ? config['spec'] : {}),
            policy: { rules: task.rules.map(writtenRule) },
          },
        }
      : {}),
  }
}

const writtenSet = (entries: readonly SetEntry[]): JsonObject =>
  Object.fromEntries(entries.map(({ scope, path, value }) => [[scope, ...path].join('.'), value]))

const writtenRule = (rule: PolicyRule): JsonObject => ({
  when: rule.when,
  // oxlint-disable-next-line unicorn/no-thenable -- the word of the playbook language
  then: {
    do: rule.do,
    attempts: rule.attempts,
    backoff: rule.backoff,
    delay: rule.delay,
    ...(rule.do === 'jump' ? { to: rule.to ?? '@previous' } : {}),
    ...(rule.set.length > 0 ? { set: writtenSet(rule.set) } : {}),
  },
})
