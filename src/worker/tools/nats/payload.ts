/**
 * Content of messages, keys and objects, between bytes and data.
 *
 * 1. Sending: text goes as it is (or decoded, with `encoding: base64`), anything else as JSON.
 * 2. Receiving: bytes that are no text are base64. Text that is a JSON object or list is data; other text stays text, so
 *    that an id of digits is not taken for a number. `encoding` says otherwise: `json` reads any JSON, `utf-8` reads
 *    nothing, `base64` gives the bytes.
 */
import { isUtf8 } from 'node:buffer'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { configFailure } from '../../tool-failure.ts'
import { decodeBase64, firstGiven, textField } from '../coerce.ts'

export type Encoding = 'auto' | 'json' | 'text' | 'base64'

const WORDS: Readonly<Record<string, Encoding>> = {
  auto: 'auto',
  json: 'json',
  text: 'text',
  'utf-8': 'text',
  utf8: 'text',
  base64: 'base64',
}

export const encodingOf = (config: JsonObject): Encoding => {
  const word = (textField(config, 'encoding') ?? 'auto').trim().toLowerCase()
  const encoding = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  if (encoding !== undefined) return encoding
  throw configFailure(`encoding must be utf-8, base64, json or auto, not ${JSON.stringify(word)}`)
}

/** The content that the first of these fields holds; null when none is given. */
export const contentOf = (config: JsonObject, ...names: readonly string[]): Buffer | null => {
  const found = firstGiven(config, names)
  if (found === null) return null
  const { name, value } = found
  if (typeof value !== 'string') return Buffer.from(JSON.stringify(value))
  return encodingOf(config) === 'base64' ? decodeBase64(value, name) : Buffer.from(value)
}

const parsed = (text: string, anything: boolean): Json => {
  if (!anything && !/^\s*[[{]/.test(text)) return text
  try {
    return parseJson(text) as Json
  } catch {
    return text
  }
}

export const readContent = (bytes: Uint8Array, encoding: Encoding): Json => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (encoding === 'base64' || !isUtf8(buffer)) return buffer.toString('base64')
  const text = buffer.toString('utf8')
  return encoding === 'text' ? text : parsed(text, encoding === 'json')
}

/** How the content is given, for whoever must tell base64 from text. */
export const contentForm = (bytes: Uint8Array, encoding: Encoding): 'base64' | 'utf-8' =>
  encoding === 'base64' || !isUtf8(bytes) ? 'base64' : 'utf-8'
