/**
 * The expressions of a tool of kind `expression`.
 *
 * 1. They are compiled at registration, and what they read is checked like the names of any template.
 * 2. Written as one whole `{{ … }}` they mean the same as without the braces.
 * 3. A text with templates in it is refused: it would be rendered first, and data would then be evaluated as an expression.
 */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { compileTemplate, hasTemplateSyntax } from '../template/template.ts'
import type { ReadContext } from './context.ts'
import { children, isMapField, items } from './reader.ts'
import type { Field } from './reader.ts'

const FIELDS: ReadonlySet<string> = new Set(['expr', 'code', 'expression'])

export const isExpressionField = (kind: string | null, key: string): boolean =>
  kind === 'expression' && FIELDS.has(key)

/** The text between the braces; null when it is no single expression in braces. */
const withoutBraces = (text: string): string | null => {
  const whole = /^\s*\{\{-?([\s\S]*?)-?\}\}\s*$/.exec(text)
  if (whole === null) return null
  try {
    return compileTemplate(text).isExpression ? (whole[1] ?? '').trim() : null
  } catch {
    return null
  }
}

export const checkExpressions = (field: Field, context: ReadContext): void => {
  if (isMapField(field)) for (const [, entry] of children(field)) checkExpressions(entry, context)
  else if (field.node.kind === 'list') for (const item of items(field)) checkExpressions(item, context)
  else if (field.node.kind === 'scalar' && typeof field.node.value === 'string') {
    const { text } = field.node
    if (hasTemplateSyntax(text) && withoutBraces(text) === null) {
      const message = `'${field.label}' must be one expression; give it values by 'input' instead of templates inside the text`
      context.report.error('EXPRESSION', field, message)
    } else {
      context.templates.condition(field, 'EXPRESSION')
    }
  }
}

const bare = (value: Json): Json => {
  if (typeof value === 'string') return withoutBraces(value) ?? value
  if (Array.isArray(value)) return (value as readonly Json[]).map(bare)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, bare(item)]))
}

/** The configuration with its expressions as the worker evaluates them. */
export const withBareExpressions = (kind: string, config: JsonObject): JsonObject => {
  if (kind !== 'expression') return config
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, FIELDS.has(key) ? bare(value) : value]),
  )
}
