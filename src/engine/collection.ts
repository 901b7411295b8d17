/** What a loop iterates over, from whatever `in` rendered to. */
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { Loop } from '../playbook/model.ts'
import { parseExact } from '../template/exact-parse.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'
import { compileTemplate, hasTemplateSyntax } from '../template/template.ts'
import type { Limits } from './session.ts'

/** Throws when the value is nothing to iterate over, or too much; the message names the expression. */
export const collectionOf = (loop: Loop, scope: Scope, { loopItems }: Limits): readonly Json[] => {
  const value = renderIn(loop.in, scope)
  const source = typeof loop.in === 'string' ? ` ${JSON.stringify(loop.in)}` : ''
  const checked = (count: number): number => {
    if (count <= loopItems) return count
    const advice = 'Go through them in pages, or with a cursor'
    throw new Error(`loop.in${source} gave ${count} items; a loop may have ${loopItems}. ${advice}`)
  }
  if (typeof value === 'number') {
    // Checked before it becomes a list, which may not fit anywhere.
    return Number.isInteger(value) && value > 0
      ? Array.from({ length: checked(value) }, (_, index) => index)
      : []
  }
  const items = itemsOf(value)
  if (items === null) {
    const what = value === null ? 'nothing' : typeof value
    throw new Error(`loop.in${source} gave ${what}; it must be a list, a mapping, a text or a number`)
  }
  checked(items.length)
  return items
}

const itemsOf = (value: Json): readonly Json[] | null => {
  if (Array.isArray(value)) return value
  if (isObject(value)) return Object.keys(value).map((key) => ({ key, value: value[key] ?? null }))
  return typeof value === 'string' ? fromText(value) : null
}

/** The rendered `in`, before any conversion. */
export const renderIn = (source: Loop['in'], scope: Scope): Json => {
  if (typeof source !== 'string') return renderValue(source, scope)
  return hasTemplateSyntax(source) ? compileTemplate(source).value(scope) : source
}

const fromText = (text: string): readonly Json[] => {
  const trimmed = text.trim()
  if (trimmed.startsWith('[')) {
    try {
      const parsed = parseExact(trimmed)
      if (Array.isArray(parsed)) return parsed as Json[]
    } catch {
      // Not JSON after all: a text list that happens to start with a bracket.
    }
  }
  return trimmed
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** How many iterations may be outstanding at once. */
export const windowOf = (loop: Loop, scope: Scope, limits: Limits): number => {
  if (loop.mode === 'sequential') return 1
  if (loop.maxInFlight === null) return limits.loopWindow
  return positiveInteger('max_in_flight', loop.maxInFlight, scope)
}

/** A count given as a number, as digits or as a template. */
export const positiveInteger = (name: string, given: number | string, scope: Scope): number => {
  const raw = typeof given === 'string' ? compileTemplate(given).value(scope) : given
  const count = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1) {
    throw new Error(`${name} must be an integer of at least 1, got ${JSON.stringify(raw)}`)
  }
  return count
}
