/**
 * Parameters of a statement as DuckDB takes them.
 *
 * 1. Whole numbers are BIGINT, other numbers DOUBLE, texts VARCHAR: the statement casts them to what it needs.
 * 2. A list of scalars is a LIST of their common type; mappings, and lists of anything else, are JSON text.
 */
import type { Json } from '../../../contract/json.ts'
import type { DuckdbDriver, DuckdbType, DuckdbValue } from './driver.ts'

export interface BoundParams {
  readonly values: DuckdbValue[]
  readonly types: (DuckdbType | undefined)[]
}

const isWhole = (value: Json): boolean => typeof value === 'number' && Number.isSafeInteger(value)

const bindList = (
  driver: DuckdbDriver,
  items: readonly Json[],
): readonly [DuckdbValue, DuckdbType | undefined] => {
  const { LIST, BIGINT, DOUBLE, BOOLEAN, VARCHAR, listValue } = driver
  const given = items.filter((item) => item !== null)
  if (given.length === 0 || given.some((item) => typeof item === 'object')) {
    return [JSON.stringify(items), VARCHAR]
  }
  const each = (map: (item: Json) => DuckdbValue): DuckdbValue =>
    listValue(items.map((item) => (item === null ? null : map(item))))
  if (given.every(isWhole)) return [each((item) => BigInt(item as number)), LIST(BIGINT)]
  if (given.every((item) => typeof item === 'number')) return [each((item) => item as number), LIST(DOUBLE)]
  if (given.every((item) => typeof item === 'boolean')) {
    return [each((item) => item as boolean), LIST(BOOLEAN)]
  }
  return [each((item) => (typeof item === 'string' ? item : JSON.stringify(item))), LIST(VARCHAR)]
}

const bindOne = (driver: DuckdbDriver, value: Json): readonly [DuckdbValue, DuckdbType | undefined] => {
  if (value === null) return [null, undefined]
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) ? [BigInt(value), driver.BIGINT] : [value, driver.DOUBLE]
  }
  if (typeof value === 'boolean') return [value, driver.BOOLEAN]
  if (typeof value === 'string') return [value, driver.VARCHAR]
  if (Array.isArray(value)) return bindList(driver, value as readonly Json[])
  return [JSON.stringify(value), driver.VARCHAR]
}

export const bindParams = (driver: DuckdbDriver, values: readonly Json[]): BoundParams => {
  const bound = values.map((value) => bindOne(driver, value))
  return { values: bound.map(([value]) => value), types: bound.map(([, type]) => type) }
}
