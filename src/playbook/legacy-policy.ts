/** Older spellings of task policy: `eval` lists and the `retry` shorthand, translated to rules. */
import type { ReadContext } from './context.ts'
import type { PolicyRule } from './model.ts'
import { readNumber } from './numbers.ts'
import { ACTIONS, readJumpTarget, timing } from './policy-action.ts'
import type { TaskPosition } from './policy-action.ts'
import {
  asList,
  asMap,
  asText,
  asWord,
  child,
  isMapField,
  isWritten,
  items,
  subject,
  warnUnknownKeys,
} from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { readSet } from './set-entries.ts'

const EVAL_KEYS = ['expr', 'do', 'attempts', 'backoff', 'delay', 'set_vars', 'target', 'else']

export const readEvalRules = (
  field: Field | null,
  position: TaskPosition,
  context: ReadContext,
): readonly PolicyRule[] => {
  if (field === null) return []
  context.report.warn(
    'legacy',
    field,
    `'${field.label}' is an older spelling; write spec.policy.rules instead`,
  )
  return asList(field, context.report).flatMap((item) => {
    const entry = asMap(item, context.report)
    if (entry === null) return []
    warnUnknownKeys(entry, EVAL_KEYS, context.report)
    const block = isWritten(entry, 'else') ? asMap(child(entry, 'else'), context.report) : entry
    return [evalRule(entry, block, position, context)]
  })
}

const evalRule = (
  entry: MapField,
  block: MapField | null,
  position: TaskPosition,
  context: ReadContext,
): PolicyRule => {
  const when = readExpression(entry, context)
  if (block === null) return { when, do: 'continue', ...timing(null, context), to: null, set: [] }
  const action = asWord(child(block, 'do'), ACTIONS, context.report, 'EVAL_ACTION') ?? 'continue'
  return {
    when,
    do: action,
    ...timing(block, context),
    to: action === 'jump' ? readJumpTarget(block, child(block, 'target'), position, context) : null,
    set: readSet(child(block, 'set_vars'), 'task', context),
  }
}

const readExpression = (entry: MapField, context: ReadContext): PolicyRule['when'] => {
  if (!isWritten(entry, 'expr')) return true
  const field = child(entry, 'expr')
  const text = asText(field, context.report)
  if (field === null || text === null || text.trim() === '') {
    context.report.error(
      'EVAL_EXPR',
      field ?? entry,
      `'${entry.label}.expr' is empty; write a condition or leave it out`,
    )
    return false
  }
  context.templates.condition(field, 'EVAL_EXPR')
  return text
}

const ANY_ERROR = "output.status == 'error'"

/** `retry: {max_attempts, backoff_seconds, retry_on}`: an error is tried again after a fixed delay. */
export const readRetryRule = (field: Field | null, context: ReadContext): readonly PolicyRule[] => {
  if (field === null) return []
  if (!isMapField(field)) {
    const message = `${subject(field)} has no effect; write retry: {max_attempts: 3, backoff_seconds: 1}`
    context.report.warn('ignored-key', field, message)
    return []
  }
  warnUnknownKeys(field, ['max_attempts', 'backoff_seconds', 'retry_on'], context.report)
  const attempts = { code: 'POLICY_ATTEMPTS', minimum: 1, integer: true }
  const delay = { code: 'POLICY_DELAY', minimum: 0, integer: false }
  return [
    {
      when: `{{ ${retryCondition(child(field, 'retry_on'), context)} }}`,
      do: 'retry',
      attempts: readNumber(child(field, 'max_attempts'), attempts, 3, context),
      backoff: 'fixed',
      delay: readNumber(child(field, 'backoff_seconds'), delay, 1, context),
      to: null,
      set: [],
    },
  ]
}

/** `retry_on` lists http status codes and the words `timeout` and `error`; without it every error is meant. */
const retryCondition = (field: Field | null, context: ReadContext): string => {
  if (field === null) return ANY_ERROR
  const listed = field.node.kind === 'list' ? items(field) : [field]
  const causes: string[] = []
  for (const item of listed) {
    const word = asText(item, context.report)?.trim().toLowerCase() ?? ''
    if (/^[1-5]\d\d$/.test(word)) causes.push(`output.http.status == ${word}`)
    else if (word === 'timeout') causes.push("output.error.kind == 'timeout'")
    else if (word === 'error') return ANY_ERROR
    else {
      const message = `${subject(item)} has no effect: it is neither an http status code nor timeout or error`
      context.report.warn('ignored-key', item, message)
    }
  }
  return causes.length === 0 ? ANY_ERROR : `${ANY_ERROR} and (${causes.join(' or ')})`
}
