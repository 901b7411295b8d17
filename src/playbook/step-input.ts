/** Step input under its three names. Only one may be given, unless they say the same. */
import type { JsonObject } from '../contract/json.ts'
import type { ReadContext } from './context.ts'
import { asMap, child, keyAt } from './reader.ts'
import type { MapField } from './reader.ts'
import { mapToJson } from './yaml-tree.ts'

const NAMES = ['input', 'args', 'with']

export const readStepInput = (step: MapField, context: ReadContext): JsonObject => {
  let chosen: { readonly key: string; readonly value: JsonObject } | null = null
  for (const key of NAMES) {
    const field = asMap(child(step, key), context.report, '; write one "name: value" per line')
    if (field === null) continue
    context.templates.value(field)
    for (const name of field.node.entries.keys()) context.defined.add(name)
    const value = mapToJson(field.node)
    if (chosen === null) {
      chosen = { key, value }
    } else if (JSON.stringify(chosen.value) !== JSON.stringify(value)) {
      const message = `it has both '${chosen.key}' and '${key}', which mean the same; keep '${chosen.key}'`
      context.report.error('INPUT_AND_ARGS', keyAt(step, key), message)
    }
  }
  return chosen?.value ?? {}
}
