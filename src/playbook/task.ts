/**
 * One tool block to one task.
 *
 * 1. The kind must be known.
 * 2. `input` and `args` are the same thing, and only one of them may be given; a container's `args` are its argv.
 * 3. Python code that does not compile as a template is left as it is, so that is only a warning.
 */
import { refuseSecrets, startsPlaybook } from './child-secrets.ts'
import type { ReadContext } from './context.ts'
import { checkExpressions, isExpressionField, withBareExpressions } from './expression-text.ts'
import { TOOL_KINDS, isToolKind } from './kinds.ts'
import type { Task } from './model.ts'
import { readPolicy } from './policy.ts'
import type { TaskPosition } from './policy-action.ts'
import { asMap, asText, child, children, isMapField, isWritten, keyAt } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { readSet } from './set-entries.ts'
import { didYouMean } from './suggest.ts'
import { configOf, flattenTool } from './tool-block.ts'
import { checkToolFields } from './tool-fields.ts'
import { expandWorkbook } from './workbook.ts'
import { mapToJson } from './yaml-tree.ts'

/** Keys that the language itself consumes; tools never see them. */
const LANGUAGE_KEYS = ['kind', 'name', 'input', 'set', 'eval', 'retry']

const consumedKeys = (kind: string | null): Set<string> => {
  const keys = new Set(kind === 'container' ? LANGUAGE_KEYS : [...LANGUAGE_KEYS, 'args'])
  // Objects of a NATS bucket have names.
  if (kind === 'nats') keys.delete('name')
  return keys
}

/** Reads the tool block at a position of its pipeline; null when there is no telling what it should run. */
export const readTask = (written: MapField, position: TaskPosition, context: ReadContext): Task | null => {
  const block = expandWorkbook(written, context)
  if (block === null) return null
  const tool = flattenTool(block)
  const kind = readKind(tool, context)
  const input = readInput(tool, kind, context)
  if (startsPlaybook(kind)) refuseSecrets([input, child(tool, 'payload')], context)
  const set = readSet(child(tool, 'set'), 'task', context)
  const rules = readPolicy(tool, position, context)
  const consumed = consumedKeys(kind)
  const spec = child(tool, 'spec')
  if (spec === null || !isWritten(spec, 'result')) consumed.add('spec')
  checkConfig(tool, kind, consumed, context)
  if (kind === null) return null
  checkToolFields(tool, kind, consumed, context)
  const label = position.labels[position.index] ?? ''
  return {
    label,
    kind,
    input: input === null ? {} : mapToJson(input.node),
    config: withBareExpressions(kind, withoutPolicy(tool, consumed)),
    set,
    rules,
  }
}

const readKind = (tool: MapField, context: ReadContext): string | null => {
  const field = child(tool, 'kind')
  if (field === null) {
    const message = `'${tool.label}' has no 'kind'; known kinds are ${TOOL_KINDS.join(', ')}`
    context.report.error('PARSE', tool, message)
    return null
  }
  const kind = asText(field, context.report)
  if (kind === null || isToolKind(kind)) return kind
  const message = `unknown tool kind '${kind}' in '${field.label}'.${didYouMean(kind, TOOL_KINDS)} Known kinds are ${TOOL_KINDS.join(', ')}`
  context.report.error('PARSE', field, message)
  return null
}

const readInput = (tool: MapField, kind: string | null, context: ReadContext): MapField | null => {
  const { report } = context
  const input = child(tool, 'input')
  const args = kind === 'container' ? null : child(tool, 'args')
  if (input !== null && args !== null) {
    const message = `'${tool.label}' has both 'input' and 'args', which mean the same; keep 'input'`
    report.error('INPUT_AND_ARGS', keyAt(tool, 'args'), message)
  }
  const field = asMap(input ?? args, report, '; write one "name: value" per line')
  if (field === null) return null
  context.templates.value(field)
  for (const name of field.node.entries.keys()) context.defined.add(name)
  return field
}

const checkConfig = (
  tool: MapField,
  kind: string | null,
  consumed: ReadonlySet<string>,
  context: ReadContext,
): void => {
  for (const [key, field] of children(tool)) {
    if (consumed.has(key)) continue
    if (isExpressionField(kind, key)) checkExpressions(field, context)
    else if (key === 'code' && kind === 'python') context.templates.verbatim(field)
    else if (key === 'spec') eachSpecParameter(field, (parameter) => context.templates.value(parameter))
    else context.templates.value(field)
  }
}

const eachSpecParameter = (spec: Field, visit: (field: Field) => void): void => {
  if (!isMapField(spec)) return
  for (const [key, field] of children(spec)) if (key !== 'policy') visit(field)
}

const withoutPolicy = (tool: MapField, consumed: ReadonlySet<string>): Task['config'] => {
  const spec = tool.node.entries.get('spec')
  if (spec === undefined || spec.value.kind !== 'map') return configOf(tool, consumed)
  const kept = new Map([...spec.value.entries].filter(([key]) => key !== 'policy'))
  const entries = new Map(tool.node.entries).set('spec', { ...spec, value: { ...spec.value, entries: kept } })
  return configOf({ ...tool, node: { ...tool.node, entries } }, consumed)
}
