/**
 * When a condition holds.
 *
 * 1. A false value is false: undefined, none, false, zero, empty text, empty list, empty mapping.
 * 2. So is text that people use for "no", in any case and with any white space around it.
 */
import { isAbsent, isTrue, whole, type Value } from './values.ts'

const FALSE_TEXTS: ReadonlySet<string> = new Set(['', 'false', '0', 'no', 'none', 'null', 'off', '{}', '[]'])
const LONGEST_FALSE_TEXT = 5

export const isFalseText = (text: string): boolean => {
  const trimmed = text.trim()
  return trimmed.length <= LONGEST_FALSE_TEXT && FALSE_TEXTS.has(trimmed.toLowerCase())
}

export const holds = (value: Value): boolean => {
  if (typeof value === 'boolean') return value
  if (isAbsent(value)) return false
  const plain = whole(value)
  return typeof plain === 'string' ? !isFalseText(plain) : isTrue(plain)
}
