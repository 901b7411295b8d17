/**
 * The payload of a run, from its flags: `--payload` first, each `--set` over it.
 *
 * 1. A value is JSON when it reads as JSON, else text.
 * 2. A dotted key reaches into mappings. A mapping that the playbook gives a default for is completed from that
 *    default, because a payload replaces whole top-level keys.
 * 3. What cannot be meant is an error, never a guess.
 */
import { isObject } from '../contract/json.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { parseJson } from '../lib/exact-json.ts'

export interface PayloadFlags {
  /** Each as `key=value`. */
  readonly set: readonly string[]
  /** JSON text, or `@` and the name of a file that holds it. */
  readonly payload: string | null
}

export const buildPayload = (
  flags: PayloadFlags,
  defaults: JsonObject,
  readFile: (path: string) => string,
): JsonObject => {
  const payload = flags.payload === null ? {} : readPayload(flags.payload, readFile)
  const result: Record<string, Json> = { ...payload }
  for (const assignment of flags.set) {
    const { keys, value } = parseAssignment(assignment)
    const [first = '', ...rest] = keys
    result[first] =
      rest.length === 0
        ? value
        : assign(startValue(result, defaults, first, assignment), rest, value, assignment)
  }
  return result
}

const readPayload = (flag: string, readFile: (path: string) => string): JsonObject => {
  const file = flag.startsWith('@') ? flag.slice(1) : null
  if (file === '') throw problem('--payload @ needs the name of a file after the @')
  const name = file === null ? '--payload' : `--payload ${flag}`
  const text = file === null ? flag : readFile(file)
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    const hint = file === null ? `; write it like '{"name": "Ada"}', or @FILE for a file that holds it` : ''
    throw new ProblemError('invalid', `${name} is not JSON: ${(error as Error).message}${hint}`, {
      cause: error,
    })
  }
  if (!isObject(value)) throw problem(`${name} must be a JSON object, such as {"name": "Ada"}`)
  return value
}

const parseAssignment = (assignment: string): { keys: readonly string[]; value: Json } => {
  const at = assignment.indexOf('=')
  if (at < 1) throw problem(`--set ${assignment}: write it as key=value`)
  const keys = assignment.slice(0, at).trim().split('.')
  if (keys.some((key) => key.trim() === '' || key === '__proto__')) {
    throw problem(
      `--set ${assignment}: '${assignment.slice(0, at)}' is not a key; write it as name or name.inner`,
    )
  }
  return { keys, value: parseValue(assignment.slice(at + 1)) }
}

const parseValue = (text: string): Json => {
  try {
    return parseJson(text) as Json
  } catch {
    // Not JSON: it means itself.
    return text
  }
}

/** What a dotted assignment changes a copy of. */
const startValue = (payload: JsonObject, defaults: JsonObject, key: string, assignment: string): Json => {
  if (Object.hasOwn(payload, key)) return payload[key] ?? null
  const byDefault = Object.hasOwn(defaults, key) ? (defaults[key] ?? null) : null
  if (!isObject(byDefault)) return null
  if (hasTemplate(byDefault)) {
    throw problem(
      `--set ${assignment}: the default of '${key}' holds templates, which only the server renders; give the whole of '${key}'`,
    )
  }
  return byDefault
}

const assign = (
  target: Json,
  [key = '', ...rest]: readonly string[],
  value: Json,
  assignment: string,
): JsonObject => {
  if (target !== null && !isObject(target))
    throw problem(`--set ${assignment}: there is no '${key}' inside ${JSON.stringify(target)}`)
  const inner = target !== null && Object.hasOwn(target, key) ? (target[key] ?? null) : null
  return { ...target, [key]: rest.length === 0 ? value : assign(inner, rest, value, assignment) }
}

const hasTemplate = (value: Json): boolean => {
  if (typeof value === 'string') return /\{\{|\{%/.test(value)
  return typeof value === 'object' && value !== null && Object.values(value as JsonObject).some(hasTemplate)
}

const problem = (message: string): ProblemError => new ProblemError('invalid', message)
