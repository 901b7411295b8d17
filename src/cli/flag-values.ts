/** Values of flags that only a server reads: those that cannot be meant are refused by the name of their flag. */
import { ProblemError } from '../contract/problem.ts'

/** Digits alone, such as a position or an id; null stays null. */
export const wholeNumberFlag = (flag: string, value: string | null): string | null => {
  if (value === null || /^\d+$/.test(value)) return value
  throw new ProblemError('invalid', `${flag} must be a whole number, got '${value}'`)
}

/** A date, a time and a zone; null stays null. */
export const instantFlag = (flag: string, value: string | null): string | null => {
  const isInstant =
    value === null ||
    (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}.*(Z|[+-]\d{2}:\d{2})$/i.test(value) && !Number.isNaN(Date.parse(value)))
  if (isInstant) return value
  throw new ProblemError(
    'invalid',
    `${flag} must be an instant with its zone, such as 2026-01-31T12:00:00Z, got '${value}'`,
  )
}
