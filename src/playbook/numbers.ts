/** Numbers that an author may give as a number, as digits, or as a template that the run renders. */
import { hasTemplateSyntax } from '../template/template.ts'
import type { ReadContext } from './context.ts'
import { shapeOf, subject } from './reader.ts'
import type { Field } from './reader.ts'

export interface NumberRule {
  /** Code of the complaint. */
  readonly code: string
  readonly minimum: number
  readonly integer: boolean
}

/** The number, the template text, or the fallback when the field is absent or wrong. */
export const readNumber = <F>(
  field: Field | null,
  rule: NumberRule,
  fallback: F,
  context: ReadContext,
): number | string | F => {
  if (field === null) return fallback
  if (field.node.kind === 'scalar') {
    const text = field.node.text.trim()
    if (hasTemplateSyntax(text)) {
      context.templates.value(field)
      return text
    }
    const value = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : Number.NaN
    if (value >= rule.minimum && Number.isFinite(value) && (!rule.integer || Number.isSafeInteger(value)))
      return value
  }
  const kind = rule.integer ? 'a whole number' : 'a number'
  const given = field.node.kind === 'scalar' ? `'${field.node.text}'` : shapeOf(field.node)
  context.report.error(
    rule.code,
    field,
    `${subject(field)} is ${given} but must be ${kind} of at least ${rule.minimum}, or a template that gives one`,
  )
  return fallback
}
