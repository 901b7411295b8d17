/**
 * What a shell call runs, from the spellings playbooks use.
 *
 * 1. `command` and `cmd` as text, and a `script`, run as they are. A list of commands, and `cmds` in any form, stops at the first
 *    command that fails; its entries share one shell, so that `cd` and variables of one are seen by the next.
 * 2. `script` as text is the script itself; as a mapping it says where the text is.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { firstGiven, textOf } from '../coerce.ts'
import { loadScriptText, type ScriptOptions } from './script-text.ts'

export interface ShellText {
  readonly text: string
  /** The shell ends with the first command that fails. */
  readonly stopsAtFailure: boolean
}

const joinCommands = (value: Json): string => {
  const entries: readonly Json[] = Array.isArray(value) ? value : [value]
  return entries
    .map((entry) => textOf(entry) ?? '')
    .filter((text) => text.trim() !== '')
    .join('\n')
}

export const shellText = async (config: JsonObject, options: ScriptOptions): Promise<ShellText> => {
  const found = firstGiven(config, ['command', 'cmd', 'cmds', 'commands', 'script'])
  if (found === null) throw configFailure('A shell tool needs `command`, `cmds` or `script`')
  const { name, value } = found
  if (name === 'script' && typeof value !== 'string') {
    return { text: await loadScriptText(value, options), stopsAtFailure: false }
  }
  const text = joinCommands(value)
  if (text === '') throw configFailure(`${name} is empty`)
  const plain = typeof value === 'string' && (name === 'command' || name === 'cmd' || name === 'script')
  return { text, stopsAtFailure: !plain }
}

/** The program that reads the text, and its arguments: `sh` unless the call names another. */
export const shellProgram = (config: JsonObject): readonly [string, ...string[]] => {
  const { shell } = config
  if (shell === undefined || shell === null || shell === '' || shell === true) return ['sh']
  const words = typeof shell === 'string' ? shell.trim().split(/\s+/) : []
  const [program, ...rest] = words.at(-1) === '-c' ? words.slice(0, -1) : words
  if (program === undefined || program === '') throw configFailure('shell must name a program such as "bash"')
  return [program, ...rest]
}
