/**
 * JSON without lost digits. Integers beyond what a double holds become text on the way in; `rawInteger` writes
 * a text id as an integer token on the way out, `exactJson` keeps doubles of that size apart from ids.
 *
 * 1. Documents without such an integer cost one scan more than JSON.parse.
 * 2. Nothing but integer tokens changes: text, fractions and exponents are left alone.
 */

const MIGHT_BE_UNSAFE = /\d{16}/
const BACKSLASH = 92

export const parseJson = (text: string): unknown =>
  MIGHT_BE_UNSAFE.test(text) ? JSON.parse(quoteUnsafeIntegers(text)) : JSON.parse(text)

const quoteUnsafeIntegers = (text: string): string => {
  const pieces: string[] = []
  let copied = 0
  let at = 0
  while (at < text.length) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    // [at, end) lies between two strings.
    for (const number of text.slice(at, end).matchAll(/-?\d+(?:\.\d*)?(?:[eE][+-]?\d*)?/g)) {
      if (!isUnsafeInteger(number[0])) continue
      const from = at + number.index
      pieces.push(text.slice(copied, from), '"', number[0], '"')
      copied = from + number[0].length
    }
    if (quote === -1) break
    at = endOfString(text, quote)
  }
  return copied === 0 ? text : pieces.join('') + text.slice(copied)
}

const isUnsafeInteger = (token: string): boolean =>
  /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token))

/** Index after the closing quote of the string that opens at `quote`. */
const endOfString = (text: string, quote: number): number => {
  let close = quote
  for (;;) {
    close = text.indexOf('"', close + 1)
    if (close === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(close - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return close + 1
  }
}

declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/

/** A value that JSON.stringify writes as this integer, digit for digit. */
export const rawInteger = (id: string): unknown => {
  if (!INTEGER.test(id)) throw new RangeError(`not an integer: ${id}`)
  return JSON.rawJSON(id)
}

const UNSTORABLE = /\\u0000|\\u[dD][89a-fA-F]/
/** A number token that `parseJson` would take for an id; inside text this may match in vain. */
const LONG_NUMBER = /[:,[]-?\d{16,}[,\]}]/

/** False when this JSON text may hold what PostgreSQL's text cannot; sure when true. */
export const isStorable = (json: string): boolean => !UNSTORABLE.test(json)

/** JSON text from which `parseJson` gives the same value again: large doubles are written with an exponent. */
export const exactJson = (value: unknown): string => {
  const text = JSON.stringify(value)
  return LONG_NUMBER.test(text) ? JSON.stringify(value, (_key, item: unknown) => exactNumber(item)) : text
}

const exactNumber = (item: unknown): unknown =>
  typeof item === 'number' && Number.isInteger(item) && !Number.isSafeInteger(item)
    ? JSON.rawJSON(item.toExponential())
    : item

/**
 * Like `exactJson`, in a form that PostgreSQL takes: NUL characters and lone surrogates, which its text type cannot
 * hold, become the replacement character.
 */
export const storableJson = (value: unknown): string => {
  const text = exactJson(value)
  return isStorable(text)
    ? text
    : JSON.stringify(value, (_key, item: unknown) => exactNumber(cleanKeysAndText(item)))
}

export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')

const cleanKeysAndText = (item: unknown): unknown => {
  if (typeof item === 'string') return storableText(item)
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const keys = Object.keys(item)
  if (keys.every((key) => storableText(key) === key)) return item
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [storableText(key), value]))
}
