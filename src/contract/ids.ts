/** Ids on the wire: text or integer in requests, text inside the program, never a double. */
import { z } from 'zod'

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** The id as canonical text; null when it is not a 64-bit integer. */
export const parseId = (value: unknown): string | null => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null
  if (typeof value !== 'string' || !/^\s*[+-]?\d{1,20}\s*$/.test(value)) return null
  const id = BigInt(value.trim().replace(/^\+/, ''))
  return id >= MIN && id <= MAX ? id.toString() : null
}

/** A required id called `name` in messages. */
export const idSchema = (name: string) =>
  z
    .union([z.string(), z.number()], { error: `${name} must be a string or an integer` })
    .transform((value, context) => {
      const id = parseId(value)
      if (id !== null) return id
      context.addIssue({ code: 'custom', message: `Invalid ${name}` })
      return z.NEVER
    })
