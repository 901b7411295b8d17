/** Limits of the tools and what the machine has for them, from the environment. What is not set is left to the tools. */
import { ProblemError } from '../contract/problem.ts'
import { readSecretSettings } from '../worker/credentials/secret-settings.ts'
import type { ToolLimits, ToolSurroundings } from '../worker/tools/all.ts'
import type { Env } from './settings.ts'

export interface ToolSettings {
  readonly limits: ToolLimits
  /** Task runs after which a pipeline is taken for one that never ends; null for the default. */
  readonly maxTaskRuns: number | null
  readonly surroundings: ToolSurroundings
}

const MOST_BYTES = 1024 ** 3

const count = (env: Env, name: string, most: number): number | null => {
  const text = env[name]
  if (text === undefined || text.trim() === '') return null
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new ProblemError('invalid', `${name} must be a whole number from 1 to ${most}, got '${text}'`)
}

const flag = (env: Env, name: string): boolean | null => {
  const text = env[name]?.trim().toLowerCase() ?? ''
  if (text === '') return null
  if (['true', '1', 'yes', 'on'].includes(text)) return true
  if (['false', '0', 'no', 'off'].includes(text)) return false
  throw new ProblemError('invalid', `${name} must be true or false, got '${text}'`)
}

export const readToolSettings = (env: Env): ToolSettings => {
  const allowPrivateAddresses = flag(env, 'NOETL_HTTP_ALLOW_PRIVATE_ADDRESSES')
  const maxResponseBytes = count(env, 'NOETL_HTTP_MAX_RESPONSE_BYTES', MOST_BYTES)
  const maxResultBytes = count(env, 'NOETL_MAX_RESULT_BYTES', MOST_BYTES)
  const pythonMemoryMb = count(env, 'NOETL_PYTHON_MEMORY_MB', 1024 * 1024)
  return {
    limits: {
      ...(allowPrivateAddresses === null ? {} : { allowPrivateAddresses }),
      ...(maxResponseBytes === null ? {} : { maxResponseBytes }),
      ...(maxResultBytes === null ? {} : { maxResultBytes }),
    },
    maxTaskRuns: count(env, 'NOETL_TASK_SEQUENCE_MAX_ITERATIONS', 1_000_000_000),
    surroundings: {
      settings: Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('NOETL_MCP_'))),
      containerRuntime: env['NOETL_CONTAINER_RUNTIME']?.trim() || null,
      secrets: readSecretSettings(env, allowPrivateAddresses ?? true),
      pythonMemoryBytes: pythonMemoryMb === null ? null : pythonMemoryMb * 1024 * 1024,
    },
  }
}
