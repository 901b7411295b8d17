/**
 * JSON that loses nothing, and one text for equal values, so that equal states have equal checksums.
 *
 * 1. Reading keeps what a double would lose: an integer keeps all its digits, `1.0` stays apart from `1`.
 * 2. Canonical text has keys in the order of their UTF-8 bytes, no blanks, and escapes only what JSON must: quotes,
 *    backslashes, control characters, and surrogates without a partner, which UTF-8 cannot hold.
 * 3. Integers are written plain; other numbers in the shortest form that reads back the same, with a decimal point,
 *    or with an exponent without a plus sign below 1e-5 and from 1e16 on.
 * 4. Canonical text read and written again is the same text.
 */

/** A number whose digits matter more than a double can hold; JSON.stringify writes it as it is. */
export interface RawNumber {
  readonly rawJSON: string
}

export type LosslessJson =
  | null
  | boolean
  | number
  | string
  | RawNumber
  | readonly LosslessJson[]
  | LosslessObject

export interface LosslessObject {
  readonly [key: string]: LosslessJson
}

/** Of the language, but not yet of the compiler's library. */
interface ExactJson {
  rawJSON(text: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
  parse(
    text: string,
    reviver: (key: string, value: LosslessJson, context: { source?: string }) => LosslessJson,
  ): LosslessJson
}
const { rawJSON, isRawJSON, parse: parseWithSource } = JSON as unknown as ExactJson

/**
 * A number that may be more than a double can tell. May match inside of texts, too, which costs time and changes
 * nothing.
 */
const NEEDS_CARE = /(?:^|[:[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/
const INTEGER = /^-?(?:0|[1-9]\d*)$/

export const parseLossless = (text: string): LosslessJson =>
  NEEDS_CARE.test(text)
    ? parseWithSource(text, (_key, value, { source }) =>
        typeof value === 'number' ? exactNumber(value, source) : value,
      )
    : (JSON.parse(text) as LosslessJson)

const exactNumber = (value: number, source: string | undefined): LosslessJson => {
  if (
    source === undefined ||
    (String(value) === source && (Number.isSafeInteger(value) || !Number.isInteger(value)))
  )
    return value
  return rawJSON(INTEGER.test(source) && source !== '-0' ? source : floatText(value))
}

export const isRawNumber = (value: unknown): value is RawNumber => isRawJSON(value)

export const isLosslessObject = (value: LosslessJson | undefined): value is LosslessObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)

export const numberText = (value: number): string =>
  Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : floatText(value)

/** A number that is not a plain integer. Beyond the range of doubles there is nothing but null. */
const floatText = (value: number): string => {
  if (!Number.isFinite(value)) return 'null'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const sign = mantissa.startsWith('-') ? '-' : ''
  const digits = mantissa.replaceAll(/[-.]/g, '')
  /** Digits before the decimal point. */
  const whole = Number(exponentText) + 1
  if (whole > 16 || whole <= -5) {
    const fraction = digits.slice(1)
    return `${sign}${digits[0]}${fraction === '' ? '' : `.${fraction}`}e${whole - 1}`
  }
  if (whole <= 0) return `${sign}0.${'0'.repeat(-whole)}${digits}`
  if (digits.length <= whole) return `${sign}${digits.padEnd(whole, '0')}.0`
  return `${sign}${digits.slice(0, whole)}.${digits.slice(whole)}`
}

/** Undefined members are left out, as everywhere in JSON. */
export const canonicalJson = (value: LosslessJson | undefined): string => {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return numberText(value)
  if (value === null || value === undefined || typeof value === 'boolean') return String(value ?? null)
  if (isRawJSON(value)) return value.rawJSON
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const object = value as LosslessObject
  const members: string[] = []
  for (const key of sortedKeys(Object.keys(object))) {
    const member = object[key]
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** Only characters from here on are in another order in UTF-16 than in UTF-8. */
const BEYOND = /[\uD800-\uFFFF]/

/** Sorts in place, by UTF-8 bytes. */
export const sortedKeys = (keys: string[]): string[] =>
  keys.some((key) => BEYOND.test(key)) ? keys.sort(compareCodePoints) : keys.sort()

const compareCodePoints = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

/** Surrogates stand for characters above all others. */
const rank = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit)
