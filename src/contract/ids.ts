/** Ids on the wire: text or integer in requests, text inside the program, never a double. */
import { z } from 'zod'
import { documentedAs } from './documented.ts'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n
/** Characters of a refused value that a message repeats. */
const MAX_SHOWN = 100

/** The id as canonical text; null when it is not a 64-bit integer. */
export const parseId = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null
  if (typeof value !== 'string' || !/^\s*[+-]?\d{1,20}\s*$/.test(value)) return null
  const id = BigInt(value.trim().replace(/^\+/, ''))
  return id >= MIN && id <= MAX ? id.toString() : null
}

/** Why a text is no id, in words that repeat it. */
export const notAnId = (text: string): string => {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  return /^\s*[+-]?\d+\s*$/.test(text)
    ? `'${shown}' is too large, an id has at most 64 bits`
    : `'${shown}' is not a number`
}

/** Text is safe in every language; an integer needs all its digits. */
const ID_IN_REQUESTS = {
  type: ['string', 'integer'],
  format: 'int64',
  pattern: String.raw`^\s*[+-]?\d{1,20}\s*$`,
  examples: ['338921234567890123'],
}

/** A required id called `name` in messages, which may show what was sent. */
export const idSchema = (name: string, { showsValue = false }: { readonly showsValue?: boolean } = {}) =>
  documentedAs(
    z
      .union([z.string(), z.number()], { error: `${name} must be a string or an integer` })
      .transform((value, context) => {
        const id = parseId(value)
        if (id !== null) return id
        const shown = showsValue ? `: ${String(value).slice(0, MAX_SHOWN)}` : ''
        context.addIssue({ code: 'custom', message: `Invalid ${name}${shown}` })
        return z.NEVER
      }),
    ID_IN_REQUESTS,
  )
