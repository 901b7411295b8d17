/**
 * What follows a run of a task: its `set` and its policy are applied, and the answer is where the pipeline goes.
 *
 * 1. The first rule that matches decides. Without one an error ends the pipeline and a success goes on.
 * 2. A condition that cannot be evaluated does not match; a `set` that cannot be evaluated ends the pipeline.
 * 3. `retry` counts the runs since the task was entered by anything but a retry.
 */
import type { ToolError } from '../../contract/command.ts'
import type { Json } from '../../contract/json.ts'
import { dataView } from '../../engine/view.ts'
import { renderValue } from '../../template/render.ts'
import { compileCondition } from '../../template/template.ts'
import { durationMs } from '../duration.ts'
import { renderField } from '../late-templates.ts'
import type { Log } from '../log.ts'
import { toToolError } from '../tool-failure.ts'
import { errorOf, outputEnvelope, type TaskRun } from './output-envelope.ts'
import type { Task } from './read-pipeline.ts'
import type { Rule } from './read-rules.ts'
import { retryWaitMs } from './retry-wait.ts'
import type { RunningContext } from './running-context.ts'
import type { SetEntry } from './writes.ts'

export type Next =
  | { readonly go: 'task'; readonly position: number }
  | { readonly go: 'again'; readonly waitMs: number }
  /** The pipeline ends; an error makes that its outcome. */
  | { readonly go: 'end'; readonly error: ToolError | null }

export interface TaskSettler {
  settle(position: number, run: TaskRun): Next
}

const DEFAULT_ATTEMPTS = 3
const DEFAULT_DELAY_MS = 1_000
const PREVIOUS: ReadonlySet<string> = new Set(['previous', 'prev', '_previous', '@previous'])

const policyError = (code: string, message: string): ToolError => ({
  kind: 'policy',
  code,
  message,
  retryable: false,
})

const endWith = (error: ToolError | null): Next => ({ go: 'end', error })

export const createTaskSettler = (
  tasks: readonly Task[],
  context: RunningContext,
  log: Log,
  random: () => number,
): TaskSettler => {
  const { scope } = context

  const writeAll = (entries: readonly SetEntry[]): void => {
    // All values first: an entry does not see what another one of the same `set` writes.
    const values = entries.map(({ target, value }) => renderField(`set.${target}`, value, scope))
    entries.forEach((entry, index) => context.write(entry, values[index] ?? null))
  }

  const isMatch = ({ when }: Rule, label: string): boolean => {
    if (typeof when === 'boolean') return when
    try {
      return compileCondition(when).test(scope)
    } catch (error) {
      log.warn({ err: error, task: label, when }, 'policy condition failed, rule does not match')
      return false
    }
  }

  const firstMatch = (task: Task): Rule | undefined => task.rules.find((rule) => isMatch(rule, task.label))

  /** A number of a rule, which may be a template; the default when it comes to nothing usable. */
  const numberOf = (
    value: Json,
    field: string,
    read: (rendered: Json) => number,
    standard: number,
  ): number => {
    try {
      const number = read(renderValue(value, scope))
      if (Number.isFinite(number)) return number
      log.warn({ field, value }, 'policy number is not one, using the default')
    } catch (error) {
      log.warn({ err: error, field, value }, 'policy number failed, using the default')
    }
    return standard
  }

  const retry = (rule: Rule, run: TaskRun): Next => {
    const attempts = numberOf(rule.attempts, 'attempts', readCount, DEFAULT_ATTEMPTS)
    const error = errorOf(run)
    if (run.attempt >= attempts) {
      const message = `Task '${run.label}' was run ${run.attempt} times; its policy asks for no more`
      return endWith(error ?? policyError('RETRIES_EXHAUSTED', message))
    }
    const delayMs = numberOf(
      rule.delay,
      'delay',
      (value) => durationMs(value, 'delay') ?? 0,
      DEFAULT_DELAY_MS,
    )
    return {
      go: 'again',
      waitMs: retryWaitMs({ backoff: rule.backoff, delayMs, runs: run.attempt, error, random }),
    }
  }

  const jump = (rule: Rule, position: number): Next => {
    const named = tasks.findIndex(({ label }) => label === rule.to)
    const target = named < 0 && PREVIOUS.has(rule.to) ? position - 1 : named
    if (target >= 0) return { go: 'task', position: target }
    const label = tasks[position]?.label ?? ''
    return endWith(policyError('JUMP_TARGET', `Task '${label}' jumps to '${rule.to}', which does not exist`))
  }

  const fail = (run: TaskRun): Next =>
    endWith(errorOf(run) ?? policyError('POLICY_FAIL', `Task '${run.label}' was failed by its policy`))

  const follow = (rule: Rule, position: number, run: TaskRun): Next => {
    switch (rule.do) {
      case 'continue':
        return { go: 'task', position: position + 1 }
      case 'retry':
        return retry(rule, run)
      case 'jump':
        return jump(rule, position)
      case 'break':
        return endWith(null)
      case 'fail':
        return fail(run)
      default:
        return unreachable(rule.do)
    }
  }

  const applyPolicy = (task: Task, position: number, run: TaskRun): Next => {
    if (task.set.length > 0) {
      context.show(dataView(run.result.data ?? null))
      writeAll(task.set)
    }
    if (task.rules.length > 0) {
      context.show(outputEnvelope(run))
      const rule = firstMatch(task)
      if (rule !== undefined) {
        writeAll(rule.set)
        return follow(rule, position, run)
      }
    }
    const error = errorOf(run)
    return error === null ? { go: 'task', position: position + 1 } : endWith(error)
  }

  return {
    settle(position, run) {
      const task = tasks[position]
      if (task === undefined) return endWith(null)
      try {
        return applyPolicy(task, position, run)
      } catch (thrown) {
        return endWith(toToolError(thrown))
      }
    },
  }
}

const readCount = (value: Json): number => {
  const count = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return value === '' ? Number.NaN : Math.max(1, Math.trunc(count))
}

const unreachable = (action: never): never => {
  throw new Error(`unknown action ${String(action)}`)
}
