/**
 * What a worker must be able to do to run the commands of a playbook, from `executor.requires`: words such as
 * `tool:duckdb` or `gpu`. What the control plane itself provides is no requirement of workers.
 */
import type { Json } from '../contract/json.ts'
import type { Playbook } from '../playbook/model.ts'

const OF_THE_CONTROL_PLANE: ReadonlySet<string> = new Set(['result_storage'])

/** The capability of having a tool. */
export const toolCapability = (kind: string): string => `tool:${kind}`

const known = new WeakMap<Playbook, readonly string[]>()

export const requirementsOf = (playbook: Playbook): readonly string[] => {
  let words = known.get(playbook)
  if (!words) {
    const { tools, features } = playbook.executor.requires
    words = [
      ...new Set([
        ...textsOf(tools).map(toolCapability),
        ...textsOf(features).filter((word) => !OF_THE_CONTROL_PLANE.has(word)),
      ]),
    ]
    known.set(playbook, words)
  }
  return words
}

const textsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
