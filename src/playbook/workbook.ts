/**
 * `workbook`: reusable tools, and the references to them. A reference is replaced by a copy of the tool; its
 * input keys override those of the workbook, every other key of the reference is dropped.
 */
import type { ReadContext } from './context.ts'
import { asList, asMap, asText, child, keyAt, ownedBy, subject, warnUnknownKeys } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import type { Report } from './report.ts'
import { didYouMean } from './suggest.ts'
import type { YamlEntry } from './yaml-tree.ts'

export const readWorkbook = (field: Field | null, report: Report): ReadonlyMap<string, MapField> => {
  const tools = new Map<string, MapField>()
  for (const item of asList(field, report, '; write a list of {name, tool}')) {
    const entry = asMap(item, report)
    if (entry === null) continue
    warnUnknownKeys(entry, ['name', 'tool', 'sink', 'desc', 'description', 'assert', 'title'], report)
    const name = asText(child(entry, 'name'), report)
    if (name === null) {
      report.error('PARSE', entry, `${subject(entry)} has no 'name'`)
      continue
    }
    const tool = readTool(entry, name, report)
    if (tools.has(name)) {
      report.error(
        'WORKBOOK_DUPLICATE',
        child(entry, 'name') ?? entry,
        `the workbook defines '${name}' twice; rename one`,
      )
    } else if (tool !== null) {
      tools.set(name, tool)
    }
  }
  return tools
}

const readTool = (entry: MapField, name: string, report: Report): MapField | null => {
  const owner = `Workbook '${name}'`
  const field = child(ownedBy(entry, owner), 'tool')
  if (field === null) {
    report.error('PARSE', { ...entry, owner }, "it has no 'tool'")
    return null
  }
  const tool = asMap(field, report, '; a pipeline cannot be reused')
  if (tool === null) return null
  const kind = child(tool, 'kind')
  if (kind?.node.kind !== 'scalar' || kind.node.text !== 'workbook') return tool
  report.error(
    'WORKBOOK_NESTED',
    kind,
    'a workbook tool cannot refer to the workbook again; write the tool itself',
  )
  return null
}

/** The tool a block stands for: itself, or the workbook's copy. Null when the reference leads nowhere. */
export const expandWorkbook = (block: MapField, context: ReadContext): MapField | null => {
  const kind = child(block, 'kind')
  if (kind?.node.kind !== 'scalar' || kind.node.text !== 'workbook') return block
  const { report, workbook } = context
  const known = [...workbook.keys()].join(', ') || 'none'
  const field = child(block, 'name')
  const name = asText(field, report)
  if (field === null || name === null) {
    const message = `'${block.label}' refers to the workbook without 'name'; known names: ${known}`
    report.error('WORKBOOK_NAME_MISSING', block, message)
    return null
  }
  const tool = workbook.get(name)
  if (tool === undefined) {
    const hint = didYouMean(name, workbook.keys())
    report.error('WORKBOOK_UNKNOWN', field, `the workbook has no '${name}'; known names: ${known}.${hint}`)
    return null
  }
  context.usedTools.add(name)
  for (const key of block.node.entries.keys()) {
    if (['kind', 'name', 'input', 'args'].includes(key)) continue
    const message = `'${key}' has no effect on a workbook reference; put it into the workbook's tool`
    report.warn('ignored-key', keyAt(block, key), message)
  }
  return withInput(tool, block)
}

const INPUT_KEYS = ['input', 'args']

const withInput = (tool: MapField, reference: MapField): MapField => {
  const given = INPUT_KEYS.map((key) => reference.node.entries.get(key)).find((entry) => entry !== undefined)
  const entries = new Map(tool.node.entries)
  const path = { path: reference.path, label: reference.label, owner: reference.owner }
  if (given !== undefined) {
    const declaredKey = INPUT_KEYS.find((key) => entries.has(key)) ?? 'input'
    entries.set(declaredKey, mergeInput(entries.get(declaredKey), given))
  }
  return { ...tool, ...path, node: { ...tool.node, entries } }
}

const mergeInput = (declared: YamlEntry | undefined, given: YamlEntry): YamlEntry => {
  if (declared?.value.kind !== 'map' || given.value.kind !== 'map') return given
  const entries = new Map([...declared.value.entries, ...given.value.entries])
  return { ...given, value: { ...given.value, entries } }
}
