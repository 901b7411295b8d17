/** The schema as the text of a file: one key per line, short lists on one line, as the formatter leaves it. */
import { isObject } from '../../contract/json.ts'
import type { Json } from '../../contract/json.ts'

const WIDTH = 110

export const schemaText = (schema: Json): string => `${print(schema, '', 0)}\n`

/** `taken` is the room that the line has already given to what precedes and follows the value. */
const print = (value: Json, indent: string, taken: number): string => {
  if (isObject(value)) return printObject(Object.entries(value), indent)
  if (!isList(value)) return JSON.stringify(value)
  const line = inline(value)
  if (isFlat(value) && indent.length + taken + line.length <= WIDTH) return line
  const deeper = `${indent}  `
  return `[\n${value.map((item) => `${deeper}${print(item, deeper, 1)}`).join(',\n')}\n${indent}]`
}

const printObject = (entries: readonly (readonly [string, Json])[], indent: string): string => {
  if (entries.length === 0) return '{}'
  const deeper = `${indent}  `
  const lines = entries.map(([key, value], index) => {
    const name = `${JSON.stringify(key)}: `
    const comma = index < entries.length - 1 ? 1 : 0
    return `${deeper}${name}${print(value, deeper, name.length + comma)}`
  })
  return `{\n${lines.join(',\n')}\n${indent}}`
}

const isFlat = (value: Json): boolean =>
  isObject(value) ? Object.keys(value).length === 0 : !isList(value) || value.every(isFlat)

const inline = (value: Json): string =>
  isList(value) ? `[${value.map(inline).join(', ')}]` : JSON.stringify(value)

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
