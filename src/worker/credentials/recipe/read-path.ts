/** A member of an answer by its path: names and indexes with dots between them. */
import type { Json } from '../../../contract/json.ts'
import { ToolFailure } from '../../tool-failure.ts'

export const readPath = (answer: Json, path: string, where: string): Json => {
  let value: Json | undefined = answer
  for (const key of path.split('.')) {
    const holder = value as Readonly<Record<string, Json>> | null | undefined
    value =
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key) ? holder[key] : undefined
  }
  if (value !== undefined && value !== null) return value
  throw new ToolFailure({
    kind: 'auth',
    code: 'TOKEN_MALFORMED',
    message: `The answer of ${where} has no '${path}'`,
    retryable: false,
  })
}
