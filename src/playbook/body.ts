/**
 * `tool` of a step to its body.
 *
 * 1. No tool: the step only routes. A mapping with `kind`: one task, whose data is the step's data. A list, or a
 *    mapping of labels: a pipeline, even with one task.
 * 2. A list item is flat (`{name, kind, …}`) or has its label as only key (`{label: {kind, …}}`).
 * 3. Labels are unique; an item without a name is `task_<position>`.
 */
import type { ReadContext } from './context.ts'
import type { Body, Task } from './model.ts'
import { asMap, child, children, isMapField, items, subject } from './reader.ts'
import type { Field, MapField } from './reader.ts'
import { readTask } from './task.ts'
import { warnReservedName } from './names.ts'

interface Labelled {
  readonly label: string
  readonly block: MapField
}

export const readBody = (step: MapField, stepName: string, context: ReadContext): Body => {
  const tool = child(step, 'tool')
  if (tool === null) return { kind: 'none', tasks: [] }
  if (tool.node.kind === 'list') return readPipeline(items(tool), tool, context)
  const block = asMap(tool, context.report, '; write tool: {kind: …}')
  if (block === null) return { kind: 'none', tasks: [] }
  const sequence = taskSequence(block)
  if (sequence !== null) return readPipeline(items(sequence), sequence, context)
  if (isMapping(block)) return readLabelMapping(block, context)
  const label = `${stepName}_task`
  context.defined.add(label)
  const task = readTask(block, { labels: [label], index: 0 }, context)
  return { kind: 'single', tasks: task === null ? [] : [task] }
}

/** `{kind: task_sequence, tasks: […]}` spells a pipeline out. */
const taskSequence = (block: MapField): Field | null => {
  const kind = child(block, 'kind')
  const tasks = child(block, 'tasks')
  if (kind?.node.kind !== 'scalar' || kind.node.text !== 'task_sequence') return null
  return tasks?.node.kind === 'list' ? tasks : null
}

/** A mapping of labels has only tool blocks as values; anything else is a single tool that forgot its kind. */
const isMapping = (block: MapField): boolean =>
  !block.node.entries.has('kind') &&
  block.node.entries.size > 0 &&
  children(block).every(([, field]) => isMapField(field) && field.node.entries.has('kind'))

const readLabelMapping = (block: MapField, context: ReadContext): Body =>
  pipelineOf(
    children(block).flatMap(([label, field]) => (isMapField(field) ? [{ label, block: field }] : [])),
    context,
  )

const readPipeline = (list: readonly Field[], at: Field, context: ReadContext): Body => {
  if (list.length === 0) {
    context.report.error(
      'PIPELINE_EMPTY',
      at,
      `'${at.label}' is an empty list; add a task, or leave 'tool' out`,
    )
    return { kind: 'none', tasks: [] }
  }
  const labelled = list.flatMap((item, index) => readItem(item, index, context))
  return pipelineOf(labelled, context)
}

const readItem = (item: Field, index: number, context: ReadContext): readonly Labelled[] => {
  const map = asMap(item, context.report)
  if (map === null) return []
  if (map.node.entries.has('kind')) {
    const name = child(map, 'name')
    const label = name?.node.kind === 'scalar' && name.node.text !== '' ? name.node.text : `task_${index}`
    return [{ label, block: map }]
  }
  const [only, ...more] = children(map)
  if (only !== undefined && more.length === 0 && isMapField(only[1]))
    return [{ label: only[0], block: only[1] }]
  const message = `${subject(item)} must be {name: …, kind: …} or one label with a tool block below it`
  context.report.error('PIPELINE_ITEM_SHAPE', item, message)
  return []
}

const pipelineOf = (labelled: readonly Labelled[], context: ReadContext): Body => {
  const labels = labelled.map(({ label }) => label)
  const tasks: Task[] = []
  labelled.forEach(({ label, block }, index) => {
    if (labels.indexOf(label) < index) {
      const message = `two tasks of the pipeline are called '${label}'; give each its own name`
      context.report.error('DUPLICATE_TASK', child(block, 'name') ?? block, message)
    }
    context.defined.add(label)
    warnReservedName('the task', label, child(block, 'name') ?? block, context)
    const task = readTask(block, { labels, index }, context)
    if (task !== null) tasks.push(task)
  })
  return { kind: 'pipeline', tasks }
}
