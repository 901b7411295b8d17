/**
 * Policy rules in all their spellings.
 *
 * 1. `{when, then}` · `{else: {then}}` · `{else: {…block…}}` · `{else: null, then}` · `{then}`; a rule of any other
 *    shape never matches.
 * 2. An unknown action means `continue`, an unknown backoff means a fixed delay.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { readSet, type SetEntry } from './writes.ts'

const ACTIONS = ['continue', 'retry', 'jump', 'break', 'fail'] as const
type Action = (typeof ACTIONS)[number]

export interface Rule {
  /** Text is a template or a bare expression. */
  readonly when: boolean | string
  readonly do: Action
  /** How often the task runs in all; may be a template. */
  readonly attempts: Json
  /** Seconds; may be a template. */
  readonly delay: Json
  readonly backoff: string
  /** Label of a task, or a word for the task before this one. */
  readonly to: string
  readonly set: readonly SetEntry[]
}

const DEFAULT_ATTEMPTS = 3
const DEFAULT_DELAY = 1

export const readRules = (spec: Json | undefined): readonly Rule[] => {
  const policy = isObject(spec) ? spec['policy'] : undefined
  const rules = isObject(policy) ? policy['rules'] : undefined
  if (!Array.isArray(rules)) return []
  return (rules as readonly Json[]).flatMap((rule) => {
    const found = isObject(rule) ? readRule(rule) : null
    return found === null ? [] : [found]
  })
}

const readRule = (rule: JsonObject): Rule | null => {
  if ('when' in rule)
    return 'then' in rule ? readBlock(readCondition(rule['when'] ?? null), rule['then']) : null
  const otherwise = rule['else']
  if (isObject(otherwise)) return readBlock(true, 'then' in otherwise ? otherwise['then'] : otherwise)
  return 'then' in rule ? readBlock(true, rule['then']) : null
}

const readCondition = (when: Json): boolean | string => {
  if (typeof when === 'boolean' || typeof when === 'string') return when
  return typeof when === 'number' && when !== 0
}

const readBlock = (when: boolean | string, then: Json | undefined): Rule => {
  const block = isObject(then) ? then : {}
  return {
    when,
    do: ACTIONS.find((action) => action === block['do']) ?? 'continue',
    attempts: block['attempts'] ?? DEFAULT_ATTEMPTS,
    delay: block['delay'] ?? DEFAULT_DELAY,
    backoff: typeof block['backoff'] === 'string' ? block['backoff'] : 'none',
    to: typeof block['to'] === 'string' ? block['to'] : '',
    set: [
      ...readSet(block['set']),
      ...readSet(block['set_ctx'], 'ctx'),
      ...readSet(block['set_iter'], 'iter'),
    ],
  }
}
