/**
 * Compiles every template of a document while it is read, so that a typing mistake is found at registration and
 * not in the middle of a run.
 *
 * 1. A syntax error is reported at the exact place inside the YAML scalar.
 * 2. A template that is never closed is plain text; that is worth a warning.
 * 3. Root names of good templates are collected; `names.ts` compares them with what the document defines.
 */
import {
  TemplateSyntaxError,
  compileCondition,
  compileTemplate,
  hasTemplateSyntax,
} from '../template/template.ts'
import type { Template } from '../template/template.ts'
import { items, children, isMapField } from './reader.ts'
import type { Field } from './reader.ts'
import type { At, Report } from './report.ts'
import { sourceOffset } from './scalar-place.ts'
import type { YamlScalar } from './yaml-tree.ts'

/** A root name that some template reads. */
export interface NameUse {
  readonly name: string
  /** The whole template text. */
  readonly template: string
  /** Where the name stands. */
  readonly at: () => At
}

export interface TemplateCheck {
  /** Every text inside the value is a template. */
  value(field: Field, code?: string): void
  /** The text is a template or a bare expression. */
  condition(field: Field, code: string): void
  /** Text that stays as it is when it does not compile: problems are warnings. */
  verbatim(field: Field): void
  readonly uses: readonly NameUse[]
}

export const createTemplateCheck = (source: string, report: Report): TemplateCheck => {
  const uses: NameUse[] = []

  const compile = (
    field: Field,
    scalar: YamlScalar,
    how: (text: string) => Template,
    failed: OnFailure,
  ): void => {
    try {
      const template = how(scalar.text)
      for (const name of template.roots) {
        const at = (): At => ({
          ...field,
          offset: sourceOffset(source, scalar, nameIndex(scalar.text, name)),
        })
        uses.push({ name, template: scalar.text, at })
      }
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error
      const offset = sourceOffset(source, scalar, error.offset)
      failed({ ...field, offset }, `'${field.label}' is not a valid template: ${error.message}`)
    }
  }

  /** Without its end a template is ordinary text, which is hardly what its author meant. */
  const warnUnclosed = (field: Field, scalar: YamlScalar): void => {
    const index = scalar.text.search(/\{[{%]/)
    if (index === -1) return
    const end = scalar.text[index + 1] === '{' ? '}}' : '%}'
    const message = `'${field.label}' opens a template without closing it with ${end}, so it is plain text`
    report.warn('template', { ...field, offset: sourceOffset(source, scalar, index) }, message)
  }

  const eachText = (field: Field, visit: (field: Field, scalar: YamlScalar) => void): void => {
    if (isMapField(field)) for (const [, entry] of children(field)) eachText(entry, visit)
    else if (field.node.kind === 'list') for (const item of items(field)) eachText(item, visit)
    else if (field.node.kind === 'scalar' && typeof field.node.value === 'string') visit(field, field.node)
  }

  return {
    uses,
    value: (field, code = 'TEMPLATE') =>
      eachText(field, (text, scalar) => {
        if (hasTemplateSyntax(scalar.text)) {
          compile(text, scalar, compileTemplate, (at, message) => report.error(code, at, message))
        } else {
          warnUnclosed(text, scalar)
        }
      }),
    condition: (field, code) => {
      if (field.node.kind !== 'scalar') return
      compile(field, field.node, compileCondition, (at, message) => report.error(code, at, message))
    },
    verbatim: (field) =>
      eachText(field, (text, scalar) => {
        if (!hasTemplateSyntax(scalar.text)) return
        compile(text, scalar, compileTemplate, (at, message) => report.warn('template', at, message))
      }),
  }
}

/** Where a root name first stands in a template; 0 when it cannot be told. */
const nameIndex = (template: string, name: string): number =>
  Math.max(template.search(new RegExp(String.raw`(?<![\w.$])${name.replace(/\$/g, '\\$&')}(?![\w$])`)), 0)

type OnFailure = (at: At, message: string) => void
