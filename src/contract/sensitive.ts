/**
 * What must not be stored or shown in clear: values under a telling key, and texts with the shape of a secret.
 * Keys match by whole words only (`author` is not `auth`), and paging or counting tokens are no secrets.
 */
import type { Json, JsonObject } from './json.ts'

export const REDACTED = '[REDACTED]'

const WORDS: readonly (readonly string[])[] = [
  'password',
  'passwd',
  'pwd',
  'secret',
  'token',
  'bearer',
  'api_key',
  'apikey',
  'authorization',
  'credential',
  'credentials',
  'client_secret',
  'secret_key',
  'private_key',
  'encryption_key',
  'connection_string',
  'passphrase',
].map((word) => word.split('_'))

const HARMLESS_ENDINGS = [
  'page_token',
  'next_token',
  'continuation_token',
  'sync_token',
  'token_count',
  'token_type',
]

/** `X-Api-Key`, `apiKey` and `api_key` are the same words. */
const wordsOf = (key: string): readonly string[] =>
  key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

const decideKey = (key: string): boolean => {
  const words = wordsOf(key)
  const joined = words.join('_')
  if (HARMLESS_ENDINGS.some((ending) => joined === ending || joined.endsWith(`_${ending}`))) return false
  return WORDS.some((wanted) =>
    wanted.every((word, index) => words[words.length - wanted.length + index] === word),
  )
}

const MEMO_LIMIT = 10_000
const memo = new Map<string, boolean>()

export const isSensitiveKey = (key: string): boolean => {
  let sensitive = memo.get(key)
  if (sensitive === undefined) {
    if (memo.size >= MEMO_LIMIT) memo.clear()
    memo.set(key, (sensitive = decideKey(key)))
  }
  return sensitive
}

const TOKEN = /^(?:bearer|basic) \S/i
const JWT = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/
const LONGEST_JWT = 16_384

export const isSensitiveText = (text: string): boolean => {
  const first = text.charCodeAt(0) | 0x20
  if (first === 0x62 && TOKEN.test(text)) return true
  if (first === 0x65 && text.length > 40 && text.length < LONGEST_JWT && JWT.test(text)) return true
  const begin = text.length > 40 ? text.indexOf('-----BEGIN ') : -1
  return begin !== -1 && text.indexOf('PRIVATE KEY-----', begin) !== -1
}

/** The value with everything sensitive replaced; the very same value when there is nothing to replace. */
export const redact = (value: Json): Json => {
  if (typeof value === 'string') return isSensitiveText(value) ? REDACTED : value
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? redactList(value) : redactObject(value as JsonObject)
}

const redactList = (list: readonly Json[]): Json => {
  let copy: Json[] | null = null
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index] ?? null
    const clean = redact(item)
    if (clean !== item) (copy ??= [...list])[index] = clean
  }
  return copy ?? list
}

const redactObject = (object: JsonObject): Json => {
  let copy: Record<string, Json> | null = null
  for (const key of Object.keys(object)) {
    const item = object[key] ?? null
    const clean = isSensitiveKey(key) && hidesSomething(item) ? REDACTED : redact(item)
    if (clean !== item) (copy ??= { ...object })[key] = clean
  }
  return copy ?? object
}

const hidesSomething = (value: Json): boolean => value !== null && typeof value !== 'boolean' && value !== ''

const IN_TEXT = [
  /\b(?:bearer|basic)\s+[\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
]

/** Running text, such as what a program prints, without what has the shape of a secret. */
export const scrubText = (text: string): string =>
  IN_TEXT.reduce((scrubbed, shape) => scrubbed.replaceAll(shape, REDACTED), text)
