/**
 * An execution that was imported from a file without secrets has `[REDACTED]` in their place. To look at that is fine; to
 * run with it would hand the word to whoever expects a password.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { REDACTED } from '../../contract/sensitive.ts'
import type { KeptStep } from '../../engine/fork-state.ts'

export interface TakenValues {
  readonly workload: JsonObject
  readonly variables: JsonObject
  readonly kept: readonly KeptStep[]
}

/** Throws when a rerun would begin with a value that its origin does not have. */
export const refuseHidden = (originId: string, { workload, variables, kept }: TakenValues): void => {
  const hidden = [
    ...placesOf(workload, (key) => `workload.${key}`),
    ...placesOf(variables, (key) => `the variable ${key}`),
    ...kept
      .filter(({ data, loop }) => isHidden(data) || isHidden(loop?.items) || isHidden(loop?.results))
      .map(({ name }) => `the result of ${name}`),
  ]
  if (hidden.length === 0) return
  throw new ProblemError(
    'conflict',
    `Execution ${originId} was imported without its secrets, and the rerun would begin with ${hidden.join(', ')}; give other values, or import a file that was exported with include_secrets`,
  )
}

const placesOf = (values: JsonObject, name: (key: string) => string): readonly string[] =>
  Object.entries(values)
    .filter(([, value]) => isHidden(value))
    .map(([key]) => name(key))

const isHidden = (value: Json | undefined): boolean => {
  if (typeof value === 'string') return value === REDACTED
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(isHidden)
}
