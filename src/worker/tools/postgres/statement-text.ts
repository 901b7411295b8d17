/**
 * The statements of a call and their parameters, from the spellings playbooks use.
 *
 * 1. `query`, `command` and their plurals are SQL text, or a list of such texts; `…_b64` the same in base64; `script`
 *    says where the text is. Each text may hold several statements.
 * 2. With parameters there is exactly one statement.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { decodeBase64, firstGiven, textOf } from '../coerce.ts'
import { loadScriptText, type ScriptOptions } from '../shell/script-text.ts'
import { bindNames } from './named-params.ts'
import { splitStatements } from './split-statements.ts'

export interface Statement {
  readonly text: string
  readonly values: readonly Json[]
}

const NAMES = ['query', 'command', 'queries', 'commands', 'sql', 'cmd', 'cmds'] as const
const ENCODED_NAMES: readonly string[] = NAMES.flatMap((name) => [`${name}_b64`, `${name}_base64`])

const textsOf = (value: Json): string[] => {
  const entries: readonly Json[] = Array.isArray(value) ? value : [value]
  return entries.flatMap((entry) => textOf(entry) ?? [])
}

const sqlTexts = async (config: JsonObject, options: ScriptOptions): Promise<string[]> => {
  const found = firstGiven(config, [...NAMES, ...ENCODED_NAMES, 'script'])
  if (found === null) return []
  const { name, value } = found
  if (name === 'script') return [await loadScriptText(value, options)]
  const texts = textsOf(value)
  return ENCODED_NAMES.includes(name) ? texts.map((text) => decodeBase64(text, name).toString()) : texts
}

const hasParams = (params: Json | undefined): params is readonly Json[] | JsonObject => {
  if (params === undefined || params === null || params === '') return false
  if (typeof params !== 'object') {
    throw configFailure('params must be a list for $1, $2, … or a mapping for :name')
  }
  return Object.keys(params).length > 0
}

export interface StatementOptions extends ScriptOptions {
  /** The kind of tool that asks, for messages. */
  readonly kind?: string
}

export const statementsOf = async (config: JsonObject, options: StatementOptions): Promise<Statement[]> => {
  const texts = (await sqlTexts(config, options)).flatMap(splitStatements)
  const [first, ...others] = texts
  if (first === undefined) {
    const kind = options.kind ?? 'postgres'
    throw configFailure(`No SQL command provided: a ${kind} tool needs \`query\` or \`command\``)
  }
  const { params } = config
  if (!hasParams(params)) return texts.map((text) => ({ text, values: [] }))
  if (others.length > 0) {
    throw configFailure(`params go with exactly one statement, and there are ${texts.length}`)
  }
  if (isObject(params)) return [bindNames(first, params)]
  return [{ text: first, values: params }]
}
