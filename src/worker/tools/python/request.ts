/** One call as the interpreter reads it. */
import type { JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { LARGE_BYTES } from '../../../contract/large-data.ts'
import { isLargerThan } from '../../../lib/json-size.ts'
import { writeLarge } from '../../../lib/write-large.ts'
import { traceVariables } from '../../command-trace.ts'
import { configFailure } from '../../tool-failure.ts'
import type { ToolCall } from '../../tool.ts'
import { credentialFields, textOf } from '../coerce.ts'
import { librariesOf } from './libraries.ts'

/**
 * Words by which code can reach the variables of the execution. They may be megabytes; code that has none of these
 * words cannot miss them.
 */
const READS_VARIABLES = /context|variables|globals|locals|vars|eval|exec|inspect|_getframe|__dict__|__main__/

const mapping = (config: JsonObject, field: string): JsonObject => {
  const value = config[field]
  if (value === undefined || value === null) return {}
  if (isObject(value)) return value
  throw configFailure(`${field} must be a mapping`)
}

const environment = (config: JsonObject): Record<string, string> => {
  const entries = Object.entries(mapping(config, 'env')).filter(([, value]) => value !== null)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

/** Fields of a credential as variables of the environment: `AUTH_<FIELD>`, of several `AUTH_<NAME>_<FIELD>`. */
const credentialVariables = (auth: JsonObject, prefix = 'AUTH'): Record<string, string> =>
  Object.assign(
    {},
    ...Object.entries(auth).map(([field, value]): Record<string, string> => {
      const name = `${prefix}_${field.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
      if (isObject(value)) return credentialVariables(value, name)
      const text = textOf(value)
      return text === null ? {} : { [name]: text }
    }),
  ) as Record<string, string>

const searchPath = (config: JsonObject): readonly string[] => {
  const paths = mapping(config, 'deps')['sys_path']
  if (paths === undefined || paths === null) return []
  return (Array.isArray(paths) ? paths : [paths]).map(String)
}

const memoryBytes = (config: JsonObject, limit: number | null): number | null => {
  const megabytes = config['memory_mb']
  if (megabytes === undefined || megabytes === null || megabytes === '') return limit
  const wanted = Number(megabytes) * 1024 * 1024
  if (!(wanted > 0))
    throw configFailure(`memory_mb must be a positive number, not ${JSON.stringify(megabytes)}`)
  return Math.floor(limit === null ? wanted : Math.min(wanted, limit))
}

export const encodeRequest = (
  call: ToolCall,
  code: string,
  memoryLimit: number | null,
): Buffer | Promise<Buffer> => {
  const { config, input, command } = call
  const auth = credentialFields(config)
  const request = {
    code,
    input,
    variables: READS_VARIABLES.test(code) ? command.context.render_context : {},
    libs: librariesOf(config),
    auth,
    env: {
      ...traceVariables(command, mapping(config, 'env')),
      ...(auth === null ? {} : credentialVariables(auth)),
      ...environment(config),
    },
    cwd: typeof config['cwd'] === 'string' ? config['cwd'] : null,
    sysPath: searchPath(config),
    memoryBytes: memoryBytes(config, memoryLimit),
    executionId: command.executionId,
    step: command.step,
  }
  return isLargerThan(request, LARGE_BYTES)
    ? writeLarge(request, { stringify: JSON.stringify })
    : Buffer.from(JSON.stringify(request))
}
