/**
 * Reads fields of a tool block the way playbooks write them.
 *
 * 1. Null and an absent field are the same: "not given". So is empty text where a text is needed.
 * 2. A field that needs text takes numbers and booleans by their JSON text, and structures as JSON.
 * 3. A field that needs a number or a boolean takes its text form; anything else is a config failure that names the field.
 * 4. Of several spellings of one field the first that is given wins.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { configFailure, ToolFailure } from '../tool-failure.ts'

export const isGiven = (value: Json | undefined): value is Exclude<Json, null> =>
  value !== undefined && value !== null

/** Text of any value; null stays null. */
export const textOf = (value: Json | undefined): string | null => {
  if (!isGiven(value)) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The first of these fields that is given, by name and value. */
export const firstGiven = (
  config: JsonObject,
  names: readonly string[],
): { readonly name: string; readonly value: Exclude<Json, null> } | null => {
  for (const name of names) {
    const value = config[name]
    if (isGiven(value)) return { name, value }
  }
  return null
}

/** The first of these fields that holds a text that is not empty. */
export const textField = (config: JsonObject, ...names: readonly string[]): string | null => {
  for (const name of names) {
    const text = textOf(config[name])
    if (text !== null && text !== '') return text
  }
  return null
}

const TRUE: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1'])
const FALSE: ReadonlySet<string> = new Set(['false', 'no', 'off', '0'])

/** The first of these fields that is given, as a boolean. */
export const booleanField = (config: JsonObject, fallback: boolean, ...names: readonly string[]): boolean => {
  const found = firstGiven(config, names)
  if (found === null || found.value === '') return fallback
  const word = (textOf(found.value) ?? '').trim().toLowerCase()
  if (TRUE.has(word)) return true
  if (FALSE.has(word)) return false
  throw configFailure(`${found.name} must be true or false, not ${JSON.stringify(found.value)}`)
}

/** A whole number from `least` on, or null when the field is not given. */
export const integerField = (config: JsonObject, name: string, least = 0): number | null => {
  const text = textField(config, name)
  if (text === null) return null
  const number = /^\s*\d+\s*$/.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(number) && number >= least) return number
  throw configFailure(`${name} must be a whole number from ${least} on, not ${JSON.stringify(config[name])}`)
}

/** A mapping whose entries are text: null entries are dropped. */
export const textEntries = (value: Json | undefined, field: string): [string, string][] => {
  if (!isGiven(value) || value === '') return []
  if (!isObject(value)) throw configFailure(`${field} must be a mapping of names to values`)
  return Object.entries(value).flatMap(([name, item]): [string, string][] => {
    const text = textOf(item)
    return text === null ? [] : [[name, text]]
  })
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

export const decodeBase64 = (text: string, field: string): Buffer => {
  const compact = text.replaceAll(/\s/g, '')
  if (!BASE64.test(compact)) throw configFailure(`${field} is not valid base64`)
  return Buffer.from(compact, 'base64')
}

/**
 * The credential of a tool: `auth`, or its synonym `credential`, as one flat mapping with an optional `type`.
 * A name must have become a mapping before the tool runs; one that has not is a credential nobody knows.
 */
export const credentialFields = (config: JsonObject): JsonObject | null => {
  const found = firstGiven(config, ['auth', 'credential'])
  if (found === null || found.value === '') return null
  if (isObject(found.value)) {
    const { data, ...rest } = found.value
    return isObject(data)
      ? { ...rest, ...data, ...(isGiven(rest['type']) ? { type: rest['type'] } : {}) }
      : found.value
  }
  throw new ToolFailure({
    kind: 'auth',
    code: 'CREDENTIAL_NOT_FOUND',
    message: `The credential ${JSON.stringify(found.value)} named in ${found.name} is not available to this tool`,
    retryable: false,
  })
}
