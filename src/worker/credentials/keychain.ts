/**
 * `keychain.<name>.<field>` in templates.
 *
 * 1. The names are found without rendering anything.
 * 2. What is not there is undefined to tests, conditions and `default`; used in any other way it fails, naming what is
 *    missing: an empty text in place of a secret would be sent to others.
 * 3. The keychain as a whole shows names and no secrets.
 */
import type { Credential } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { REDACTED } from '../../contract/sensitive.ts'
import { collectTemplates } from '../../template/render.ts'
import { VIEW, type View } from '../../template/scope.ts'
import { compileCondition, compileTemplate, type Template } from '../../template/template.ts'
import { credentialMalformed, credentialNotFound } from './credential-failure.ts'
import { configFailure } from '../tool-failure.ts'

const ROOT = 'keychain'

export interface KeychainUse {
  readonly isRead: boolean
  readonly aliases: readonly string[]
}

const NO_USE: KeychainUse = { isRead: false, aliases: [] }

/** What the templates in a value, and conditions besides, read from the keychain. */
export const keychainUse = (value: Json, conditions: readonly string[] = []): KeychainUse => {
  const templates = [
    ...collectTemplates(value).map(({ text }) => compiled(compileTemplate, text)),
    ...conditions.map((text) => compiled(compileCondition, text)),
  ]
  const readers = templates.filter((template) => template?.roots.has(ROOT) === true)
  if (readers.length === 0) return NO_USE
  const paths = readers.flatMap((template) => template?.paths ?? [])
  const aliases = paths.flatMap(([root, alias]) => (root === ROOT && alias !== undefined ? [alias] : []))
  return { isRead: true, aliases: [...new Set(aliases)] }
}

/** Undefined for text that cannot do it, and for text that is no template: whoever renders it will say so. */
const compiled = (compile: (text: string) => Template, text: string): Template | undefined => {
  if (!text.includes(ROOT)) return undefined
  try {
    return compile(text)
  } catch {
    return undefined
  }
}

const absent = (fail: () => never): View => {
  const view: View = { [VIEW]: true, absent: true, plain: fail, get: () => view, equals: () => false }
  return view
}

/** Undefined: nobody asked for it before rendering. Null: there is none. */
export type Loaded = (alias: string) => Credential | null | undefined

export const keychainView = (loaded: Loaded, aliases: () => Iterable<string>): View => ({
  [VIEW]: true,
  plain: () => Object.fromEntries(Array.from(aliases(), (alias) => [alias, REDACTED])),
  get: (alias) => {
    const credential = loaded(alias)
    if (credential === null) return missing(alias)
    return credential === undefined ? unnamed(alias) : credentialView(alias, credential)
  },
})

const missing = (alias: string): View =>
  absent(() => {
    throw credentialNotFound(alias)
  })

const unnamed = (alias: string): View =>
  absent(() => {
    throw configFailure(`The template must name the credential '${alias}' itself, as keychain.${alias}`)
  })

const credentialView = (alias: string, { type, data }: Credential): View => ({
  [VIEW]: true,
  plain: () => data,
  get: (field) =>
    isObject(data) && Object.hasOwn(data, field) ? data[field] : fieldMissing(alias, type, field),
})

const fieldMissing = (alias: string, type: string, field: string): View =>
  absent(() => {
    throw credentialMalformed(alias, type, `has no field '${field}'`)
  })

/** The part of a block that the control plane left to the worker. */
export const valueAt = (block: JsonObject, path: readonly (string | number)[]): Json => {
  let value: Json = block
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
    value = (value as Record<string | number, Json>)[key] ?? null
  }
  return value
}
