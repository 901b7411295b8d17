/** Instants of requests, as the store gives them back: in UTC, to the millisecond. */
import { ProblemError } from '../contract/problem.ts'

/** `field` names it when it is refused: the store has years 1 to 9999, other texts are no instants at all. */
export const instantOf = (text: string | null, field: string): string | null => {
  if (text === null) return null
  const instant = new Date(text)
  const year = instant.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new ProblemError('invalid', `${field}: ${text} is out of range`)
  return instant.toISOString()
}
