/**
 * The body of an answer as a value.
 *
 * 1. `json`, the default: JSON with every digit of its integers; what is not JSON is text; what is not text is binary.
 * 2. `text` is always text. `binary` is always `{base64, size}`.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { configFailure } from '../../tool-failure.ts'
import { textField } from '../coerce.ts'

export type ResponseType = 'json' | 'text' | 'binary'

const TYPES: Readonly<Record<string, ResponseType>> = {
  json: 'json',
  auto: 'json',
  text: 'text',
  binary: 'binary',
  bytes: 'binary',
  base64: 'binary',
}

export const responseType = (config: JsonObject): ResponseType => {
  const word = textField(config, 'response_type') ?? 'json'
  const type = TYPES[word.toLowerCase()]
  if (type === undefined) throw configFailure(`response_type must be json, text or binary, not "${word}"`)
  return type
}

const charsetOf = (contentType: string): string | null =>
  /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? null

const decoderFor = (charset: string, fatal: boolean): TextDecoder | null => {
  try {
    return new TextDecoder(charset, { fatal })
  } catch {
    return null
  }
}

/** Null when the bytes are not text in the charset that was declared, or in UTF-8. */
const decodeStrictly = (bytes: Buffer, contentType: string): string | null => {
  const charset = charsetOf(contentType)
  const decoder =
    (charset === null ? null : decoderFor(charset, true)) ?? new TextDecoder('utf-8', { fatal: true })
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}

const decodeLeniently = (bytes: Buffer, contentType: string): string => {
  const charset = charsetOf(contentType)
  return ((charset === null ? null : decoderFor(charset, false)) ?? new TextDecoder()).decode(bytes)
}

const binary = (bytes: Buffer): Json => ({ base64: bytes.toString('base64'), size: bytes.length })

export const readBody = (bytes: Buffer, contentType: string, type: ResponseType): Json => {
  if (type === 'binary') return binary(bytes)
  const text = decodeStrictly(bytes, contentType)
  if (type === 'text') return text ?? decodeLeniently(bytes, contentType)
  if (text === null)
    return contentType.startsWith('text/') ? decodeLeniently(bytes, contentType) : binary(bytes)
  try {
    return parseJson(text) as Json
  } catch {
    return text
  }
}
