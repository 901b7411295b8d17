/** What every JSON body must be like before anybody walks it. */
import { ProblemError } from '../contract/problem.ts'

/** Deeper values exhaust the stack of whoever walks them; PostgreSQL's, too. */
const MAX_DEPTH = 500

/**
 * JSON.parse makes `__proto__` an own key; copying such an object would change its prototype. `outer` levels lie around the value.
 */
export const withoutPrototypeKeys = (value: unknown, outer = 0): unknown => {
  let level: unknown[] = [value]
  for (let depth = outer; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH)
      throw new ProblemError('invalid', `The body is nested more than ${MAX_DEPTH} levels deep`)
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue
      if (Object.hasOwn(item, '__proto__')) delete (item as Record<string, unknown>)['__proto__']
      for (const child of Object.values(item))
        if (typeof child === 'object' && child !== null) next.push(child)
    }
    level = next
  }
  return value
}
