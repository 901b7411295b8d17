/**
 * Values of PostgreSQL as JSON.
 *
 * 1. No digit is lost: an integer or numeric that a JavaScript number cannot hold is text.
 * 2. What JSON has no word for (NaN, infinity) is null.
 * 3. Instants are RFC 3339 with the offset of the session, other times ISO text, bytes base64, json a value, arrays lists.
 *    Every type that is not named here is its text.
 */
import type { Json } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { parseArray } from './array-text.ts'

type Reader = (text: string) => Json

const readInteger: Reader = (text) => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

const readFloat: Reader = (text) => {
  const number = Number(text)
  return Number.isFinite(number) ? number : null
}

/** Up to fifteen significant digits survive a double; more may or may not. */
const EXACT_DIGITS = 15

const readNumeric: Reader = (text) => {
  const number = Number(text)
  if (!Number.isFinite(number)) return /^-?\d/.test(text) ? text : null
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  const digits = plain.replace(/^-?0*\.?0*/, '').replace('.', '')
  return digits.length <= EXACT_DIGITS || String(number) === plain ? number : text
}

const INSTANT = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(?::(\d\d))?$/
const readInstant: Reader = (text) => {
  const match = INSTANT.exec(text)
  return match === null ? text : `${match[1]}T${match[2]}${match[3]}:${match[4] ?? '00'}`
}

const readTimestamp: Reader = (text) => text.replace(/^(\d{4,}-\d\d-\d\d) (\d\d:)/, '$1T$2')

const readBytes: Reader = (text) => {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex').toString('base64')
  // The older output format: octal escapes in otherwise plain text.
  const plain = text.replaceAll(/\\(\\|[0-7]{3})/g, (_, code: string) =>
    code === '\\' ? '\\' : String.fromCharCode(Number.parseInt(code, 8)),
  )
  return Buffer.from(plain, 'latin1').toString('base64')
}

const readJson: Reader = (text) => parseJson(text) as Json
const readText: Reader = (text) => text
const readBoolean: Reader = (text) => text === 't'

/** Type id, id of its array type, and how to read it. */
const TYPES: readonly (readonly [number, number, Reader])[] = [
  [16, 1000, readBoolean],
  [17, 1001, readBytes],
  [18, 1002, readText],
  [19, 1003, readText],
  [20, 1016, readInteger],
  [21, 1005, readInteger],
  [23, 1007, readInteger],
  [25, 1009, readText],
  [26, 1028, readInteger],
  [114, 199, readJson],
  [700, 1021, readFloat],
  [701, 1022, readFloat],
  [790, 791, readText],
  [829, 1040, readText],
  [869, 1041, readText],
  [650, 651, readText],
  [1042, 1014, readText],
  [1043, 1015, readText],
  [1082, 1182, readText],
  [1083, 1183, readText],
  [1114, 1115, readTimestamp],
  [1184, 1185, readInstant],
  [1186, 1187, readText],
  [1266, 1270, readText],
  [1700, 1231, readNumeric],
  [2249, 2287, readText],
  [2950, 2951, readText],
  [3802, 3807, readJson],
]

const VOID = 2278

const readers: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  ...TYPES.flatMap(([type, arrayType, read]): [number, Reader][] => [
    [type, read],
    [arrayType, (text) => parseArray(text, read)],
  ]),
  [VOID, () => null],
])

export const readerOf = (typeId: number): Reader => readers.get(typeId) ?? readText
