/**
 * Renders the strings of a tool block that the control plane left for the worker.
 *
 * 1. Only the paths named in `late` are rendered: everything else is final, also text that looks like a template.
 * 2. The block is never changed in place: containers on the way to a rendered string are copied.
 */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'
import { ToolFailure } from './tool-failure.ts'

export type JsonPath = readonly (string | number)[]

/** The paths of `meta.late`; anything malformed in it is a defect of the sender and is named. */
export const latePaths = (meta: JsonObject): readonly JsonPath[] => {
  const late = meta['late']
  if (late === undefined || late === null) return []
  if (!Array.isArray(late) || !late.every((path) => Array.isArray(path))) {
    throw new ToolFailure({
      kind: 'internal',
      code: 'BAD_COMMAND',
      message: 'meta.late must be a list of paths',
      retryable: false,
    })
  }
  return late as readonly JsonPath[]
}

/** Renders a value; a failure names the place it stands at. */
export const renderField = (place: string, value: Json, scope: Scope): Json => {
  try {
    return renderValue(value, scope)
  } catch (thrown) {
    // It says itself what is wrong, such as a credential that is not there.
    if (thrown instanceof ToolFailure) throw thrown
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new ToolFailure(
      {
        kind: 'template',
        code: 'TEMPLATE',
        message: `Template in ${place} failed: ${reason}`,
        retryable: false,
      },
      { cause: thrown },
    )
  }
}

const replaceAt = (value: Json, path: JsonPath, depth: number, scope: Scope): Json => {
  const key = path[depth]
  if (key === undefined) return renderField(path.join('.'), value, scope)
  if (Array.isArray(value) && typeof key === 'number' && key < value.length) {
    return value.with(key, replaceAt(value[key] as Json, path, depth + 1, scope))
  }
  if (isObject(value) && Object.hasOwn(value, key)) {
    return { ...value, [key]: replaceAt(value[key] as Json, path, depth + 1, scope) }
  }
  return value
}

export const renderLate = (value: Json, paths: readonly JsonPath[], scope: Scope): Json => {
  let rendered = value
  for (const path of paths) rendered = replaceAt(rendered, path, 0, scope)
  return rendered
}
