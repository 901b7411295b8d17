/**
 * Turns named parameters, `:name` and `%(name)s`, into the positional ones of PostgreSQL.
 *
 * 1. Only code is looked at: text in quotes and comments stays as it is, and so does a cast (`::int`).
 * 2. `:name` counts only when there is a parameter of that name, for a colon has other uses (`a[1:n]`). `%(name)s`
 *    has no other use, so an unknown name is a mistake.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { sqlTokens } from './sql-tokens.ts'

const PERCENT_NAME = /%\(([A-Za-z_]\w*)\)s/y
const COLON_NAME = /:([A-Za-z_]\w*)/y

export const bindNames = (text: string, params: JsonObject): { text: string; values: Json[] } => {
  const numbers = new Map<string, number>()
  const pieces: string[] = []
  let copied = 0

  const numberOf = (name: string): number => {
    const known = numbers.get(name)
    if (known !== undefined) return known
    numbers.set(name, numbers.size + 1)
    return numbers.size
  }

  const nameAt = (pattern: RegExp, at: number): { name: string; end: number } | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    return match === null ? null : { name: match[1] as string, end: pattern.lastIndex }
  }

  for (const { kind, start } of sqlTokens(text)) {
    if (kind !== 'symbol' || start < copied) continue
    const isPercent = text[start] === '%'
    const found = isPercent ? nameAt(PERCENT_NAME, start) : nameAt(COLON_NAME, start)
    if (found === null) continue
    if (!Object.hasOwn(params, found.name)) {
      if (isPercent) throw configFailure(`params has no value for %(${found.name})s`)
      continue
    }
    pieces.push(text.slice(copied, start), `$${numberOf(found.name)}`)
    copied = found.end
  }
  const values = [...numbers.keys()].map((name) => params[name] ?? null)
  return { text: pieces.join('') + text.slice(copied), values }
}
