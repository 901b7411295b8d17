/**
 * How the variables of a command look to late templates. They travel as plain data; results of steps get back the
 * conveniences they have on the server.
 *
 * 1. `meta.step_results` names the results among the variables and says what they are: `data`, `loop`, or the labels
 *    of a pipeline. Everything else is then exactly the data.
 * 2. A command that does not say so may come from anywhere: every mapping that could be a result is one.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { dataView, loopView, pipelineView } from '../engine/view.ts'
import { iteratorName } from './iteration.ts'

/** Mappings under these names are never results. */
const NO_RESULTS: ReadonlySet<string> = new Set(['workload', 'iter', 'loop', 'steps', 'ctx', 'job'])

export const createVariableView = (command: LeasedCommand): ((name: string, value: Json) => unknown) => {
  const marks = command.meta['step_results']
  if (isObject(marks)) {
    return (name, value) => (Object.hasOwn(marks, name) ? markedView(value, marks[name]) : value)
  }
  const iterator = typeof command.meta['iteration_index'] === 'number' ? iteratorName(command) : null
  return (name, value) => (NO_RESULTS.has(name) || name === iterator ? value : guessedView(value))
}

const markedView = (value: Json, mark: Json | undefined): unknown => {
  if (!isObject(value)) return value
  if (mark === 'loop') return loopView(value)
  if (!Array.isArray(mark)) return dataView(value)
  const labels = mark.filter((label) => typeof label === 'string' && Object.hasOwn(value, label)) as string[]
  return pipelineView(Object.fromEntries(labels.map((label) => [label, value[label] ?? null])))
}

const guessedView = (value: Json): unknown =>
  isObject(value) && isLoopResult(value) ? loopView(value) : dataView(value)

const isLoopResult = (value: JsonObject): boolean => {
  const { results, stats } = value
  return Array.isArray(results) && isObject(stats) && 'success' in stats && Object.keys(value).length === 2
}
