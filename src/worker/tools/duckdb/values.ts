/**
 * Values of DuckDB as JSON.
 *
 * 1. No digit is lost: an integer or decimal that a JavaScript number cannot hold is text.
 * 2. What JSON has no word for (NaN, infinity) is null; a date or time that is infinite is `infinity` or `-infinity`.
 * 3. Times are ISO text, instants with the offset of the session, bytes base64, json a value; LIST and ARRAY are lists,
 *    STRUCT and MAP mappings, UNION is the value it holds. Every type that is not named here is its text.
 */
import type {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBUnionType,
  DuckDBUnionValue,
} from '@duckdb/node-api'

import type { Json } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import type { DuckdbDecimal, DuckdbDriver, DuckdbType, DuckdbValue } from './driver.ts'

type Reader = (value: DuckdbValue) => Json

const readInteger: Reader = (value) => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

const readFloat: Reader = (value) => (Number.isFinite(value) ? (value as number) : null)

const readDecimal: Reader = (value) => {
  const text = (value as DuckdbDecimal).toString()
  const number = Number(text)
  // The text with its zeros at the end cut, as a number prints itself when it holds every digit.
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text
  return String(number) === plain || (plain === '-0' && number === 0) ? number : text
}

const readTimestamp = (value: DuckdbValue): string => {
  const { isFinite: finite } = value as { readonly isFinite?: boolean }
  const text = String(value)
  if (finite === false || /^-?infinity$/.test(text)) return text
  return text.replace(/^(\d{4,}-\d\d-\d\d) (\d\d:)/, '$1T$2')
}

/** DuckDB writes `+00`; RFC 3339 wants the minutes too. */
const readInstant: Reader = (value) =>
  readTimestamp(value).replace(
    /([+-]\d\d)(?::(\d\d))?$/,
    (_, hours: string, minutes?: string) => `${hours}:${minutes ?? '00'}`,
  )

/** What stands for the ends of time among the days that a DATE counts. */
const LAST_DAY = 2_147_483_647
const readDate: Reader = (value) => {
  const { days } = value as { readonly days: number }
  if (days === LAST_DAY) return 'infinity'
  return days === -LAST_DAY ? '-infinity' : String(value)
}

const readBytes: Reader = (value) => Buffer.from((value as DuckDBBlobValue).bytes).toString('base64')
const readText: Reader = (value) => String(value)
const readBoolean: Reader = (value) => value as boolean
const readJson: Reader = (value) => parseJson(String(value)) as Json

const SIMPLE: Readonly<Record<string, Reader>> = {
  BOOLEAN: readBoolean,
  TINYINT: readInteger,
  SMALLINT: readInteger,
  INTEGER: readInteger,
  BIGINT: readInteger,
  UTINYINT: readInteger,
  USMALLINT: readInteger,
  UINTEGER: readInteger,
  UBIGINT: readInteger,
  HUGEINT: readInteger,
  UHUGEINT: readInteger,
  BIGNUM: readInteger,
  FLOAT: readFloat,
  DOUBLE: readFloat,
  DECIMAL: readDecimal,
  TIMESTAMP: readTimestamp,
  TIMESTAMP_S: readTimestamp,
  TIMESTAMP_MS: readTimestamp,
  TIMESTAMP_NS: readTimestamp,
  TIMESTAMP_TZ: readInstant,
  DATE: readDate,
  BLOB: readBytes,
}

const member = (into: Record<string, Json>, name: string, value: Json): void => {
  Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true })
}

const listReader =
  (read: Reader): Reader =>
  (value) =>
    (value as DuckDBListValue | DuckDBArrayValue).items.map(read)

const structReader =
  (readers: ReadonlyMap<string, Reader>): Reader =>
  (value) => {
    const data: Record<string, Json> = {}
    for (const [name, each] of Object.entries((value as DuckDBStructValue).entries)) {
      member(data, name, (readers.get(name) ?? readText)(each))
    }
    return data
  }

const mapReader =
  (readKey: Reader, readValue: Reader): Reader =>
  (value) => {
    const data: Record<string, Json> = {}
    for (const { key, value: each } of (value as DuckDBMapValue).entries) {
      const name = readKey(key)
      member(data, typeof name === 'string' ? name : JSON.stringify(name), readValue(each))
    }
    return data
  }

/** How values of this type become JSON; null stays null. */
export const readerOf = (driver: DuckdbDriver, type: DuckdbType): Reader => {
  const read = readerWithoutNull(driver, type)
  return (value) => (value === null ? null : read(value))
}

const readerWithoutNull = (driver: DuckdbDriver, type: DuckdbType): Reader => {
  if (type.alias === 'JSON') return readJson
  const name = driver.DuckDBTypeId[type.typeId] ?? ''
  const inner = (each: DuckdbType): Reader => readerOf(driver, each)
  switch (name) {
    case 'LIST':
    case 'ARRAY':
      return listReader(inner((type as DuckDBListType | DuckDBArrayType).valueType))
    case 'STRUCT': {
      const { entryNames, entryTypes } = type as DuckDBStructType
      return structReader(
        new Map(entryNames.map((entry, index) => [entry, inner(entryTypes[index] as DuckdbType)])),
      )
    }
    case 'MAP': {
      const { keyType, valueType } = type as DuckDBMapType
      return mapReader(inner(keyType), inner(valueType))
    }
    case 'UNION': {
      const { memberTags, memberTypes } = type as DuckDBUnionType
      const readers = new Map(memberTags.map((tag, index) => [tag, inner(memberTypes[index] as DuckdbType)]))
      return (value) => {
        const { tag, value: held } = value as DuckDBUnionValue
        return (readers.get(tag) ?? readText)(held)
      }
    }
    default:
      return SIMPLE[name] ?? readText
  }
}
