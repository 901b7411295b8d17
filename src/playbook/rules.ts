/**
 * First-match rules in all their spellings. `spec.policy.rules` of a task and `spec.policy.admit.rules` of a step
 * share them; they differ only in what the block of a rule means.
 *
 * `{when, then}` · `{then}` · `{else: {then}}` · `{else: {…block…}}` · `{else: null, then}` (indented one level short)
 */
import type { ReadContext } from './context.ts'
import type { Condition } from './model.ts'
import { asMap, asText, child, isWritten, keyAt, shapeOf, subject, warnUnknownKeys } from './reader.ts'
import type { Field, MapField } from './reader.ts'

export interface RawRule {
  readonly when: Condition
  /** The block that says what to do; null when it is empty. */
  readonly block: MapField | null
}

export const readRules = (rules: readonly Field[], context: ReadContext): readonly RawRule[] => {
  const result: RawRule[] = []
  rules.forEach((field, index) => {
    const rule = readRule(field, context)
    if (rule === null) return
    result.push(rule)
    const hidden = rules[index + 1]
    if (rule.when !== true || hidden === undefined) return
    context.report.warn(
      'unreachable-rule',
      hidden,
      `${subject(hidden)} is never reached: the rule before it always matches`,
    )
  })
  return result
}

const readRule = (field: Field, context: ReadContext): RawRule | null => {
  const { report } = context
  const rule = asMap(field, report)
  if (rule === null) return null
  warnUnknownKeys(rule, ['when', 'then', 'else', 'name', 'desc', 'description'], report)
  if (isWritten(rule, 'else')) return readElse(rule, context)
  const block = asMap(child(rule, 'then'), report)
  if (isWritten(rule, 'when')) {
    if (!isWritten(rule, 'then')) return refuse(field, context, "has no 'then'; put what to do below 'then'")
    return { when: readCondition(rule, context), block }
  }
  if (isWritten(rule, 'then')) return { when: true, block }
  return refuse(field, context, "has neither 'when' nor 'else'; write {when: …, then: {…}}")
}

const readElse = (rule: MapField, context: ReadContext): RawRule | null => {
  const { report } = context
  if (isWritten(rule, 'when')) return refuse(rule, context, "has both 'when' and 'else'; write two rules")
  const otherwise = child(rule, 'else')
  if (otherwise === null) return { when: true, block: asMap(child(rule, 'then'), report) }
  const block = asMap(otherwise, report, '; write else: {then: {…}}')
  if (block === null) return null
  if (!isWritten(block, 'then')) return { when: true, block }
  warnUnknownKeys(block, ['then'], report)
  return { when: true, block: asMap(child(block, 'then'), report) }
}

const refuse = (field: Field, context: ReadContext, reason: string): null => {
  context.report.error('RULE_SHAPE', field, `${subject(field)} ${reason}`)
  return null
}

const readCondition = (rule: MapField, context: ReadContext): Condition => {
  const field = child(rule, 'when')
  if (field === null) {
    context.report.error(
      'RULE_WHEN',
      keyAt(rule, 'when'),
      `'${rule.label}.when' is empty; write a condition, or use else`,
    )
    return false
  }
  const { node } = field
  if (node.kind === 'scalar' && typeof node.value === 'boolean') return node.value
  const text = asText(field, context.report)
  if (text === null) return false
  if (text.trim() === '') {
    context.report.error(
      'RULE_WHEN',
      field,
      `'${field.label}' is empty (${shapeOf(node)}); write a condition, or use else`,
    )
    return false
  }
  context.templates.condition(field, 'RULE_WHEN')
  return text
}
