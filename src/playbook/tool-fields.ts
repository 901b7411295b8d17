/**
 * Holds the fields of a tool block against the declaration of its kind, when the playbook is registered.
 *
 * 1. A field that the kind does not have is a warning with a suggestion: another version of the tool may know it.
 * 2. A literal of the wrong type is an error, since the tool would refuse it at every run. A template is not judged: its
 *    value is known only when the tool runs, and is checked then.
 * 3. A field that is missing, and a kind that our workers do not run, are warnings.
 */
import { declarationOf, unavailableText } from '../contract/tools/all.ts'
import { missingFields, toolNoun, wrongValue } from '../contract/tools/check-fields.ts'
import { COMMON_FIELDS, fieldNamed, knownNames } from '../contract/tools/tool-declaration.ts'
import type { ToolDeclaration } from '../contract/tools/tool-declaration.ts'
import { hasTemplateSyntax } from '../template/template.ts'
import type { ReadContext } from './context.ts'
import { child, children, isWritten, keyAt } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { didYouMean } from './suggest.ts'
import { toJson } from './yaml-tree.ts'

/** `consumed` has the keys that the language itself reads. */
export const checkToolFields = (
  tool: MapField,
  kind: string,
  consumed: ReadonlySet<string>,
  context: ReadContext,
): void => {
  const declaration = declarationOf(kind)
  if (declaration === null) return
  const unavailable = unavailableText(kind)
  const at = child(tool, 'kind') ?? tool
  if (unavailable !== null) context.report.warn('unavailable-kind', at, unavailable)
  const known = knownNames(declaration)
  for (const [key, field] of children(tool)) {
    if (consumed.has(key)) continue
    checkValue(key, field, declaration, context)
    if (declaration.open === true || known.includes(key)) continue
    const message = `${toolNoun(kind)} has no field '${key}'.${didYouMean(key, known)}`
    context.report.warn('unknown-field', keyAt(tool, key), message)
  }
  if (unavailable !== null) return
  const missing = missingFields(declaration, (name) => isWritten(tool, name))
  for (const message of missing) context.report.warn('missing-field', at, afterOwner(message))
}

/** Tools say what they miss in whole sentences; here the step stands before it. */
const afterOwner = (message: string): string => message.slice(0, 1).toLowerCase() + message.slice(1)

const checkValue = (key: string, field: Field, { fields }: ToolDeclaration, context: ReadContext): void => {
  const declared = fieldNamed(fields, key) ?? fieldNamed(COMMON_FIELDS, key)
  if (declared === null || isTemplate(field)) return
  const wrong = wrongValue(key, declared, toJson(field.node))
  if (wrong !== null) context.report.error('FIELD_TYPE', field, wrong)
}

const isTemplate = ({ node }: Field): boolean => node.kind === 'scalar' && hasTemplateSyntax(node.text)
