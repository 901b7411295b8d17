/**
 * Holds values against a declaration. Messages name the field and show what would fit.
 *
 * 1. Only what is given is checked: null and empty text pass everywhere.
 * 2. Lists and mappings are checked as such; what is in them is the tool's business, except for a list of texts.
 */
import type { Json, JsonObject } from '../json.ts'
import { isObject } from '../json.ts'
import {
  COMMON_FIELDS,
  type FieldType,
  namesOf,
  type ToolDeclaration,
  type ToolField,
} from './tool-declaration.ts'

const DIGITS = /^\s*-?\d+\s*$/
const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const DURATION = /^\s*(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)?\s*)+$/
const FLAG = /^\s*(?:true|false|yes|no|on|off|1|0)\s*$/i

const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null

/** Text of a scalar; null for anything else. */
const scalarText = (value: Json): string | null =>
  typeof value === 'object' || value === null ? null : String(value)

const FITS: Readonly<Record<FieldType, (value: Json, field: ToolField) => boolean>> = {
  any: () => true,
  text: isScalar,
  texts: (value) => isScalar(value) || (Array.isArray(value) && value.every(isScalar)),
  integer: (value, { least = 0 }) => {
    const text = typeof value === 'boolean' ? null : scalarText(value)
    return text !== null && DIGITS.test(text) && Number(text) >= least
  },
  number: (value) => typeof value !== 'boolean' && NUMBER.test(scalarText(value) ?? ''),
  flag: (value) => FLAG.test(scalarText(value) ?? ''),
  duration: (value) => typeof value !== 'boolean' && DURATION.test(scalarText(value) ?? ''),
  mapping: isObject,
  list: (value) => Array.isArray(value),
}

const NOUNS: Readonly<Record<FieldType, string>> = {
  any: 'a value',
  text: 'text',
  texts: 'text or a list of texts',
  integer: 'a whole number',
  number: 'a number',
  flag: 'true or false',
  duration: 'seconds or a text such as "30s"',
  mapping: 'a mapping',
  list: 'a list',
}

const typesOf = ({ type }: ToolField): readonly FieldType[] => (typeof type === 'string' ? [type] : type)

/** The types of a field in words: "text or a mapping". */
export const typeWords = (field: ToolField): string => {
  const nouns = typesOf(field).map((type) => NOUNS[type])
  const whole = nouns.join(' or ')
  return field.least === undefined || field.least === 0 ? whole : `${whole} from ${field.least} on`
}

const shapeOf = (value: Json): string => {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'a mapping'
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

const exampleOf = (name: string, { examples = [] }: ToolField): string => {
  const [example] = examples
  if (example === undefined) return ''
  return `; for example ${name}: ${typeof example === 'string' ? example : JSON.stringify(example)}`
}

const isGivenValue = (value: Json | undefined): value is Exclude<Json, null> =>
  value !== undefined && value !== null && value !== ''

/** What is wrong with the value of a field, starting with its name; null when nothing is. */
export const wrongValue = (name: string, field: ToolField, value: Json | undefined): string | null => {
  if (!isGivenValue(value)) return null
  if (!typesOf(field).some((type) => FITS[type](value, field))) {
    return `${name} must be ${typeWords(field)}, not ${shapeOf(value)}${exampleOf(name, field)}`
  }
  const { words } = field
  if (words === undefined || typeof value !== 'string') return null
  const isWord = words.some((word) => word.toLowerCase() === value.trim().toLowerCase())
  return isWord ? null : `${name} must be one of ${words.join(', ')}, not ${shapeOf(value)}`
}

/** Kinds that are spoken with a vowel first: as a word, or letter by letter. */
const VOWEL_FIRST = /^(?:[aeio]|http|mcp)/

/** A tool of a kind in words: "an http tool". */
export const toolNoun = (kind: string): string => `${VOWEL_FIRST.test(kind) ? 'an' : 'a'} ${kind} tool`

/** Fields of which one must be given. */
interface Requirement {
  /** Every spelling of every field that would do. */
  readonly names: readonly string[]
  readonly message: string
}

const requirementsOf = ({ kind, fields, oneOf = [] }: ToolDeclaration): readonly Requirement[] => {
  const single = Object.entries(fields).flatMap(([name, { required }]) =>
    required === true ? [{ fields: [name], message: undefined }] : [],
  )
  return [...single, ...oneOf].map((group) => {
    const [first = ''] = group.fields
    const example = fields[first] === undefined ? '' : exampleOf(first, fields[first])
    const message = group.message ?? `${toolNoun(kind)} needs ${group.fields.join(' or ')}`
    return {
      names: group.fields.flatMap((name) => (fields[name] === undefined ? [] : namesOf(name, fields[name]))),
      message: `${message}${example}`,
    }
  })
}

/** What is missing, each with the way to give it. `gives` says whether a name is given. */
export const missingFields = (
  declaration: ToolDeclaration,
  gives: (name: string) => boolean,
): readonly string[] =>
  requirementsOf(declaration).flatMap(({ names, message }) => (names.some(gives) ? [] : [message]))

/** The check of a kind, prepared once: everything that is wrong with a rendered block. Unknown names are not. */
export const createConfigCheck = (
  declaration: ToolDeclaration,
): ((config: JsonObject) => readonly string[]) => {
  const requirements = requirementsOf(declaration)
  const fields = new Map<string, ToolField>()
  for (const [name, field] of Object.entries({ ...COMMON_FIELDS, ...declaration.fields })) {
    for (const each of namesOf(name, field)) fields.set(each, field)
  }
  return (config) => {
    const problems: string[] = []
    for (const name in config) {
      const field = fields.get(name)
      const wrong = field === undefined ? null : wrongValue(name, field, config[name])
      if (wrong !== null) problems.push(wrong)
    }
    for (const { names, message } of requirements) {
      if (!names.some((name) => isGivenValue(config[name]))) problems.push(message)
    }
    return problems
  }
}
