/**
 * About how many bytes a JSON value takes in memory, at a price that does not grow with the value.
 *
 * 1. A few items of a long list stand for all of them; the fields of an object are all looked at, up to a number.
 * 2. At most so many objects and lists are looked into; those inside one share what is left evenly, so that one large
 *    branch does not hide the others.
 */

/** Objects and lists that are looked into. */
const CONTAINERS = 128
/** Items that stand for a list. */
const ITEMS = 8
/** Fields that stand for an object. */
const FIELDS = 64

const SLOT = 8
const OBJECT_BYTES = 24
const LIST_BYTES = 32
const TEXT_BYTES = 20
const FRACTION_BYTES = 16
/** What a field of an object with very many costs besides its value: such an object is a table. */
const TABLE_FIELD_BYTES = 40
/** An object that there is no time to look into. */
const UNSEEN_BYTES = 200

export const heapSizeAbout = (value: unknown): number => weigh(value, CONTAINERS)

/** Besides the slot that holds it. */
const weigh = (value: unknown, budget: number): number => {
  if (typeof value === 'string') return TEXT_BYTES + value.length * (isWide(value) ? 2 : 1)
  if (typeof value === 'number') return Number.isInteger(value) ? 0 : FRACTION_BYTES
  if (typeof value !== 'object' || value === null) return 0
  return Array.isArray(value) ? weighList(value, budget) : weighObject(value, budget)
}

/** A text with a character beyond Latin-1 takes two bytes for each; most that have one have many. */
const isWide = (text: string): boolean => text.charCodeAt(0) > 255 || text.charCodeAt(text.length >> 1) > 255

const weighList = (list: readonly unknown[], budget: number): number => {
  const { length } = list
  const bytes = LIST_BYTES + length * SLOT
  if (budget < 1) return bytes + length * TEXT_BYTES
  const looked = Math.min(length, ITEMS)
  const share = (budget - 1) / looked
  let sum = 0
  for (let nth = 0; nth < looked; nth += 1) {
    const item = list[Math.floor((nth * length) / looked)]
    // A list of numbers holds them in its slots.
    if (typeof item !== 'number') sum += weigh(item, share)
  }
  return looked === 0 ? bytes : bytes + (sum * length) / looked
}

const weighObject = (object: object, budget: number): number => {
  if (budget < 1) return UNSEEN_BYTES
  const keys = Object.keys(object)
  const { length } = keys
  if (length > FIELDS) return weighTable(object, keys, budget)
  const fields = object as Readonly<Record<string, unknown>>
  let bytes = OBJECT_BYTES + length * SLOT
  let containers = 0
  for (const key of keys) {
    const value = fields[key]
    if (typeof value === 'object' && value !== null) containers += 1
    else bytes += weigh(value, 0)
  }
  if (containers === 0) return bytes
  const share = (budget - 1) / containers
  for (const key of keys) {
    const value = fields[key]
    if (typeof value === 'object' && value !== null) bytes += weigh(value, share)
  }
  return bytes
}

/** An object with very many fields is like a list of them. */
const weighTable = (object: object, keys: readonly string[], budget: number): number => {
  const fields = object as Readonly<Record<string, unknown>>
  const { length } = keys
  const share = (budget - 1) / FIELDS
  let sum = 0
  for (let nth = 0; nth < FIELDS; nth += 1)
    sum += weigh(fields[keys[Math.floor((nth * length) / FIELDS)] ?? ''], share)
  return OBJECT_BYTES + length * (SLOT + TABLE_FIELD_BYTES) + (sum * length) / FIELDS
}
