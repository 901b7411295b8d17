/**
 * Task policy: `spec.policy.rules`, the older `eval` list, and `retry`. All become rules; explicit rules win over
 * `eval`, and `eval` over `retry`.
 */
import type { ReadContext } from './context.ts'
import { readEvalRules, readRetryRule } from './legacy-policy.ts'
import type { PolicyRule } from './model.ts'
import { ACTIONS, readJumpTarget, timing } from './policy-action.ts'
import type { TaskPosition } from './policy-action.ts'
import { asList, asWord, child, isMapField, keyAt, shapeOf, subject, warnUnknownKeys } from './reader.ts'
import type { MapField } from './reader.ts'
import { readRules } from './rules.ts'
import { readSet, readSetIn } from './set-entries.ts'

export const readPolicy = (
  tool: MapField,
  position: TaskPosition,
  context: ReadContext,
): readonly PolicyRule[] => {
  const explicit = readExplicitRules(tool, position, context)
  if (explicit !== null) {
    for (const key of ['eval', 'retry']) {
      if (child(tool, key) === null) continue
      context.report.warn('ignored-key', keyAt(tool, key), `'${key}' has no effect beside spec.policy.rules`)
    }
    return explicit
  }
  const evaluated = readEvalRules(child(tool, 'eval'), position, context)
  return evaluated.length > 0 ? evaluated : readRetryRule(child(tool, 'retry'), context)
}

const readExplicitRules = (
  tool: MapField,
  position: TaskPosition,
  context: ReadContext,
): readonly PolicyRule[] | null => {
  const spec = child(tool, 'spec')
  const policy = spec === null ? null : child(spec, 'policy')
  if (policy === null) return null
  if (!isMapField(policy)) {
    const message = `${subject(policy)} is ${shapeOf(policy.node)} and has no effect; write policy: {rules: [...]}`
    context.report.warn('ignored-key', policy, message)
    return null
  }
  warnUnknownKeys(policy, ['rules', 'mode', 'on_unmatched', 'before', 'after', 'finally'], context.report)
  const rules = asList(child(policy, 'rules'), context.report)
  if (rules.length === 0) return null
  return readRules(rules, context).map(({ when, block }) => readAction(when, block, position, context))
}

const readAction = (
  when: PolicyRule['when'],
  block: MapField | null,
  position: TaskPosition,
  context: ReadContext,
): PolicyRule => {
  if (block === null) return { when, do: 'continue', ...timing(null, context), to: null, set: [] }
  const known = ['do', 'attempts', 'backoff', 'delay', 'to', 'set', 'set_ctx', 'set_iter']
  warnUnknownKeys(block, known, context.report)
  const action = asWord(child(block, 'do'), ACTIONS, context.report, 'POLICY_DO') ?? 'continue'
  return {
    when,
    do: action,
    ...timing(block, context),
    to: action === 'jump' ? readJumpTarget(block, child(block, 'to'), position, context) : null,
    set: [
      ...readSet(child(block, 'set'), 'task', context),
      ...readSetIn('ctx', child(block, 'set_ctx'), context),
      ...readSetIn('iter', child(block, 'set_iter'), context),
    ],
  }
}
