/**
 * Rendering of whole structures.
 *
 * 1. Every text that is a template is replaced by its value; keys with template syntax are replaced by their text.
 *    Order is kept; when two keys become the same the later value wins.
 * 2. A structure without templates is returned as it is, the same object. So are parts without templates.
 * 3. What an object contains is found out once and remembered by its identity: structures are never changed in place.
 * 4. Rendered values are final. They are not looked at for templates again.
 */
import { isObject, type Json, type JsonObject } from '../contract/json.ts'
import { MAX_DATA_DEPTH } from './limits.ts'
import type { Scope } from './scope.ts'
import { compileTemplate, hasTemplateSyntax, TemplateError, type Template } from './template.ts'
import { setMember } from './values.ts'

/** How to render a value; undefined when there is nothing to render in it. */
type Plan = ((scope: Scope) => Json) | undefined

const plans = new WeakMap<object, { readonly plan: Plan }>()

const planText = (text: string): Plan => {
  if (!hasTemplateSyntax(text)) return undefined
  const template = compileTemplate(text)
  return (scope) => template.value(scope)
}

const planList = (list: readonly Json[], depth: number): Plan => {
  const parts = list.map((element) => ({ element, plan: planValue(element, depth + 1) }))
  if (parts.every((part) => part.plan === undefined)) return undefined
  return (scope) => parts.map(({ element, plan }) => (plan === undefined ? element : plan(scope)))
}

interface Member {
  readonly key: string
  readonly keyTemplate: Template | undefined
  readonly value: Json
  readonly plan: Plan
}

const planMapping = (mapping: JsonObject, depth: number): Plan => {
  const members = Object.keys(mapping).map((key): Member => {
    const value = mapping[key] ?? null
    const keyTemplate = hasTemplateSyntax(key) ? compileTemplate(key) : undefined
    return { key, keyTemplate, value, plan: planValue(value, depth + 1) }
  })
  if (members.every((one) => one.keyTemplate === undefined && one.plan === undefined)) return undefined
  return (scope) => {
    const rendered: Record<string, Json> = {}
    for (const { key, keyTemplate, value, plan } of members) {
      setMember(rendered, keyTemplate?.text(scope) ?? key, plan === undefined ? value : plan(scope))
    }
    return rendered
  }
}

const planValue = (value: Json, depth: number): Plan => {
  if (typeof value === 'string') return planText(value)
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DATA_DEPTH) {
    const reason = `structure is nested deeper than ${MAX_DATA_DEPTH} levels`
    throw new TemplateError({ reason, source: '', offset: 0, expression: 'a structure' })
  }
  return isObject(value) ? planMapping(value, depth) : planList(value, depth)
}

/** Only the structure as a whole is remembered: its parts live on in its plan. */
const planOf = (value: Json): Plan => {
  if (typeof value !== 'object' || value === null) return planValue(value, 0)
  const known = plans.get(value)
  if (known !== undefined) return known.plan
  const plan = planValue(value, 0)
  plans.set(value, { plan })
  return plan
}

export const renderValue = (value: Json, scope: Scope): Json => {
  const plan = planOf(value)
  return plan === undefined ? value : plan(scope)
}

export interface FoundTemplate {
  readonly text: string
  /** Where it stands; for a key, the path of the member it names. */
  readonly path: (string | number)[]
}

/** All texts with template syntax, keys included, in order of appearance. */
export const collectTemplates = (value: Json): FoundTemplate[] => {
  const found: FoundTemplate[] = []
  const visit = (current: Json, path: readonly (string | number)[]): void => {
    if (typeof current === 'string') {
      if (hasTemplateSyntax(current)) found.push({ text: current, path: [...path] })
    } else if (isObject(current)) {
      for (const key of Object.keys(current)) {
        if (hasTemplateSyntax(key)) found.push({ text: key, path: [...path, key] })
        visit(current[key] ?? null, [...path, key])
      }
    } else if (Array.isArray(current)) {
      for (const [index, element] of (current as readonly Json[]).entries()) visit(element, [...path, index])
    }
  }
  visit(value, [])
  return found
}
