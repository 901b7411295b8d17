/**
 * Renders the templates of a keychain entry.
 *
 * 1. They see the workload (by name, as `workload` and as `ctx`), the facts of the execution, and other entries of the
 *    keychain, which are looked up first.
 * 2. A name that is none of these is an error: a secret must not be asked for with a hole in the question.
 */
import type { Credential } from '../../../contract/command.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { collectTemplates, renderValue } from '../../../template/render.ts'
import type { View } from '../../../template/scope.ts'
import { compileTemplate } from '../../../template/template.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { keychainUse, keychainView } from '../keychain.ts'

export interface EntryNames {
  readonly variables: JsonObject
  /** Null when there is none of this name. */
  find(alias: string): Promise<Credential | null>
}

const FACTS: ReadonlySet<string> = new Set(['execution_id', 'catalog_id', 'path'])

const checkNames = (value: JsonObject, variables: JsonObject): void => {
  for (const { text } of collectTemplates(value)) {
    for (const root of compileTemplate(text).roots) {
      if (root === 'keychain' || root === 'workload' || root === 'ctx' || Object.hasOwn(variables, root))
        continue
      throw configFailure(
        `its template ${text} reads '${root}'; an entry can read the workload and other entries`,
      )
    }
  }
}

const viewOf = (known: ReadonlyMap<string, Credential | null>): View =>
  keychainView(
    (alias) => known.get(alias),
    () => known.keys(),
  )

/** Everything below the entry but its name, rendered. */
export const renderEntry = async (
  entry: JsonObject,
  { variables, find }: EntryNames,
): Promise<JsonObject> => {
  try {
    checkNames(entry, variables)
    const known = new Map<string, Credential | null>()
    for (const alias of keychainUse(entry).aliases) known.set(alias, await find(alias))
    const keychain = viewOf(known)
    const workload = Object.fromEntries(Object.entries(variables).filter(([name]) => !FACTS.has(name)))
    const lookup = (name: string): unknown => {
      if (name === 'keychain') return keychain
      if (Object.hasOwn(variables, name)) return variables[name]
      return name === 'workload' || name === 'ctx' ? workload : undefined
    }
    return renderValue(entry, { lookup }) as JsonObject
  } catch (thrown) {
    if (thrown instanceof ToolFailure) throw thrown
    throw new ToolFailure(
      {
        kind: 'template',
        code: 'TEMPLATE',
        message: thrown instanceof Error ? thrown.message : String(thrown),
        retryable: false,
      },
      { cause: thrown },
    )
  }
}
