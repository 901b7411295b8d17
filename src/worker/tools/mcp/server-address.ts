/**
 * Which server a call means: an address, the name of one that the worker knows, or a program to start.
 *
 * `server: kubernetes` is the address in `NOETL_MCP_KUBERNETES_ENDPOINT`; without a name, `NOETL_MCP_URL` is.
 */
import type { JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { isGiven, textField, textOf } from '../coerce.ts'

export type ServerAddress =
  | {
      readonly endpoint: string
      /** Said by the worker's settings, not by the playbook. */
      readonly isTrusted: boolean
    }
  | { readonly program: string; readonly args: readonly string[] }

type Settings = Readonly<Record<string, string | undefined>>

const variableOf = (server: string): string =>
  `NOETL_MCP_${server
    .trim()
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')}_ENDPOINT`

const commandOf = (config: JsonObject): ServerAddress | null => {
  const { command } = config
  if (!isGiven(command) || command === '') return null
  const words = Array.isArray(command)
    ? command.map((word) => textOf(word) ?? '')
    : (textOf(command) ?? '').trim().split(/\s+/)
  const [program, ...args] = words
  if (program === undefined || program === '') {
    throw configFailure('command must be a program and its arguments, such as [uvx, my-mcp-server]')
  }
  return { program, args }
}

const checked = (endpoint: string, isTrusted: boolean): ServerAddress => {
  if (/^https?:\/\/./i.test(endpoint)) return { endpoint, isTrusted }
  throw configFailure(`endpoint must be an address such as http://localhost:8900/mcp`)
}

export const serverAddress = (config: JsonObject, settings: Settings): ServerAddress => {
  const written = textField(config, 'endpoint', 'url', 'server_url', 'base_url')
  if (written !== null) return checked(written, false)
  const command = commandOf(config)
  if (command !== null) return command
  const server = textField(config, 'server')
  const variable = server === null ? 'NOETL_MCP_URL' : variableOf(server)
  const known = settings[variable] ?? settings['NOETL_MCP_URL']
  if (known !== undefined && known !== '') return checked(known, true)
  throw configFailure(
    server === null
      ? 'An mcp tool needs `endpoint`, `server` or `command`'
      : `This worker does not know the MCP server "${server}": set ${variable}, or give \`endpoint\``,
  )
}
