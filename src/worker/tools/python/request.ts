/** One call as the interpreter reads it. */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import type { ToolCall } from '../../tool.ts'

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

const libraries = (config: JsonObject): JsonObject => {
  const value = config['libs']
  // A list of module names is a common slip and leaves no doubt about what is meant.
  if (Array.isArray(value))
    return Object.fromEntries(
      value.map((name: Json) => [typeof name === 'string' ? name : JSON.stringify(name), name]),
    )
  return mapping(config, 'libs')
}

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

export const encodeRequest = (call: ToolCall, code: string, memoryLimit: number | null): Buffer => {
  const { config, input, command } = call
  const request = {
    code,
    input,
    variables: READS_VARIABLES.test(code) ? command.context.render_context : {},
    libs: libraries(config),
    env: environment(config),
    cwd: typeof config['cwd'] === 'string' ? config['cwd'] : null,
    sysPath: searchPath(config),
    memoryBytes: memoryBytes(config, memoryLimit),
    executionId: command.executionId,
    step: command.step,
  }
  return Buffer.from(JSON.stringify(request))
}
