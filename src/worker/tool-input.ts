/** The input of a tool: a mapping below `input`, or below `args` where that is only another spelling of it. */
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { configFailure } from './tool-failure.ts'

/** Kinds whose `args` is an argument vector. */
const ARGUMENT_VECTOR_KINDS: ReadonlySet<string> = new Set(['container'])

export const isArgsInput = (kind: string): boolean => !ARGUMENT_VECTOR_KINDS.has(kind)

const NO_INPUT: JsonObject = {}

export const inputObject = (value: Json | undefined): JsonObject => {
  if (value === undefined || value === null) return NO_INPUT
  if (isObject(value)) return value
  throw configFailure('The input of a tool must be a mapping of names to values')
}
