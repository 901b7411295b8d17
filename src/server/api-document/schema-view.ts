/** A schema as people read it: fields with their types, what must be given, and what the words mean. */
import type { JsonSchema } from './components.ts'
import type { ApiDocument } from './document.ts'
import type { Html } from './html.ts'
import { html, prose } from './html.ts'

/** Follows a reference; `name` is what the schema is called, if it is. */
export type Resolve = (schema: JsonSchema) => { readonly schema: JsonSchema; readonly name: string | null }

export const createResolve =
  ({ components }: ApiDocument): Resolve =>
  (schema) => {
    const ref = schema['$ref']
    if (typeof ref !== 'string') return { schema, name: null }
    const name = ref.split('/').at(-1) ?? ''
    return { schema: components.schemas[name] ?? {}, name }
  }

export const typesOf = ({ type }: JsonSchema): readonly string[] =>
  Array.isArray(type) ? (type as string[]) : typeof type === 'string' ? [type] : []

/** `text or null`, `list of Credential`: the type in a few words. */
export const typeWords = (schema: JsonSchema, resolve: Resolve): string => {
  const { schema: found, name } = resolve(schema)
  if (found['const'] !== undefined) return JSON.stringify(found['const'])
  const options = optionsOf(found)
  if (options.length > 0 && !found['properties'])
    return [...new Set(options.map((each) => typeWords(each, resolve)))].join(' or ')
  if (found['format'] === 'int64') return idWords(typesOf(found))
  const words = typesOf(found).map((type) => typeWord(type, found, resolve))
  if (words.length === 0) return Array.isArray(found['enum']) ? 'text' : 'any'
  const text = words.join(' or ')
  return name !== null && text === 'object' ? name : text
}

const typeWord = (type: string, schema: JsonSchema, resolve: Resolve): string => {
  if (type === 'array') return `list of ${typeWords((schema['items'] ?? {}) as JsonSchema, resolve)}`
  if (type === 'string') return schema['format'] === 'date-time' ? 'instant' : 'text'
  return type
}

const idWords = (types: readonly string[]): string =>
  types.length > 1 ? 'id' : types[0] === 'integer' ? 'id as integer' : 'id as text'

const optionsOf = (schema: JsonSchema): readonly JsonSchema[] =>
  (schema['anyOf'] ?? schema['oneOf'] ?? []) as readonly JsonSchema[]

/** Keyword, words before the number, words after it. */
const LIMITS: readonly (readonly [string, string, string])[] = [
  ['minimum', 'at least', ''],
  ['maximum', 'at most', ''],
  ['minLength', 'at least', 'characters'],
  ['maxLength', 'at most', 'characters'],
  ['minItems', 'at least', 'items'],
  ['maxItems', 'at most', 'items'],
]

/** Whose fields are shown: senders ask what they must give, receivers what they may miss. */
export type Side = 'request' | 'answer'

/** Allowed words, default and limits of a value. */
export const notes = (schema: JsonSchema, resolve: Resolve): readonly Html[] => {
  const { schema: found } = resolve(schema)
  const all = [found, ...optionsOf(found).map((each) => resolve(each).schema)]
  return all.flatMap((each) => [...wordsOf(each), ...limitsOf(each), ...defaultOf(each)])
}

const wordsOf = ({ enum: words }: JsonSchema): readonly Html[] =>
  Array.isArray(words)
    ? [html`<span class="note">${words.map((word) => html`<code>${String(word)}</code> `)}</span>`]
    : []

const limitsOf = (schema: JsonSchema): readonly Html[] =>
  LIMITS.filter(([key]) => schema[key] !== undefined && !isPlain(key, schema[key])).map(
    ([key, before, after]) =>
      html`<span class="note">${before} ${Number(schema[key]).toLocaleString('en')} ${after}</span>`,
  )

/** Limits that go without saying. */
const isPlain = (key: string, limit: unknown): boolean =>
  (key === 'minLength' && limit === 1) || (key === 'minimum' && limit === 0)

const defaultOf = (schema: JsonSchema): readonly Html[] =>
  schema['default'] === undefined
    ? []
    : [html`<span class="note">default <code>${JSON.stringify(schema['default'])}</code></span>`]

const MAX_DEPTH = 6

/** The fields of an object, of the items of a list, or of each of several forms; nothing for a scalar. */
export const renderSchema = (schema: JsonSchema, resolve: Resolve, side: Side, depth = 0): Html | null => {
  if (depth > MAX_DEPTH) return null
  const { schema: found } = resolve(schema)
  const forms = optionsOf(found).filter((each) => each['title'] !== undefined || hasFields(each, resolve))
  if (forms.length === 1 && forms[0]) return renderSchema(forms[0], resolve, side, depth)
  if (forms.length > 1) {
    return html`${forms.map(
      (each, index) =>
        html`<div class="form">
          <p class="form-name">${formName(each, index, resolve)}</p>
          ${renderSchema(each, resolve, side, depth + 1) ?? renderWords(each)}
        </div>`,
    )}`
  }
  const items = found['items'] as JsonSchema | undefined
  if (items) return renderSchema(items, resolve, side, depth)
  const properties = Object.entries((found['properties'] ?? {}) as Record<string, JsonSchema>)
  if (properties.length === 0) return null
  const required = new Set((found['required'] ?? []) as readonly string[])
  return html`<ul class="fields">
    ${properties.map(([name, property]) => renderField({ name, schema: property, required: required.has(name), side }, resolve, depth))}
  </ul>`
}

/** A form without fields of its own. */
const renderWords = ({ description }: JsonSchema): Html | null =>
  typeof description === 'string' ? html`<p class="form-words">${prose(description)}</p>` : null

const formName = (schema: JsonSchema, index: number, resolve: Resolve): string => {
  const { schema: found, name } = resolve(schema)
  const title = found['title']
  return typeof title === 'string' ? title : (name ?? `Form ${index + 1}`)
}

const hasFields = (schema: JsonSchema, resolve: Resolve): boolean => {
  const { schema: found } = resolve(schema)
  const items = found['items'] as JsonSchema | undefined
  return found['properties'] !== undefined || (items !== undefined && hasFields(items, resolve))
}

interface Field {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
  readonly side: Side
}

const renderField = ({ name, schema, required, side }: Field, resolve: Resolve, depth: number): Html => {
  const { schema: found } = resolve(schema)
  const description = schema['description'] ?? found['description']
  const inner = renderSchema(schema, resolve, side, depth + 1)
  const head = html`<code class="name">${name}</code>${renderNeed(required, side)}
    <span class="type">${typeWords(schema, resolve)}</span> ${notes(schema, resolve)}
    ${typeof description === 'string' && html`<span class="text">${prose(description)}</span>`}`
  return inner
    ? html`<li>
        <details ${depth < 1 ? 'open' : ''}>
          <summary>${head}</summary>
          ${inner}
        </details>
      </li>`
    : html`<li>${head}</li>`
}

export const renderNeed = (required: boolean, side: Side): Html | null => {
  if (side === 'request') return required ? html`<span class="required">required</span>` : null
  return required ? null : html`<span class="sometimes">if any</span>`
}
