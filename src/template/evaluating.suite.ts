/** Short words for tests: render a source against a plain object. */
import type { Json } from '../contract/json.ts'
import type { Scope } from './scope.ts'
import { compileTemplate, TemplateError, TemplateSyntaxError } from './template.ts'

export const scopeOf = (data: Readonly<Record<string, unknown>> = {}): Scope => ({
  lookup: (name) => (Object.hasOwn(data, name) ? data[name] : undefined),
  now: '2026-11-15T12:00:00.000Z',
  uuid: () => '6f9619ff-8b86-4d01-b42d-00cf4fc964ff',
})

export const valueOf = (expression: string, data?: Readonly<Record<string, unknown>>): Json =>
  compileTemplate(`{{ ${expression} }}`).value(scopeOf(data))

export const textOf = (source: string, data?: Readonly<Record<string, unknown>>): string =>
  compileTemplate(source).text(scopeOf(data))

const caught = (work: () => unknown): unknown => {
  try {
    work()
  } catch (problem) {
    return problem
  }
  return undefined
}

export const syntaxErrorOf = (source: string): TemplateSyntaxError => {
  const problem = caught(() => compileTemplate(source))
  if (problem instanceof TemplateSyntaxError) return problem
  throw new Error(`no syntax error in ${source.slice(0, 200)}`, { cause: problem })
}

export const errorOf = (source: string, data?: Readonly<Record<string, unknown>>): TemplateError => {
  const template = compileTemplate(source)
  const problem = caught(() => template.value(scopeOf(data)))
  if (problem instanceof TemplateError) return problem
  throw new Error(`no template error in ${source.slice(0, 200)}`, { cause: problem })
}
