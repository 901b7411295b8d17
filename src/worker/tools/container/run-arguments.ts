/**
 * A tool block as the arguments of `docker run`, which podman shares.
 *
 * 1. `command` replaces the entry point of the image, `args` are its arguments, as in a pod. A text as command is for `sh`.
 * 2. Values of environment variables never become arguments, where every user of the machine could read them: they are
 *    handed to the runtime in its own environment, and named.
 * 3. What only a cluster can do (service accounts, nodes, tolerations) is ignored; what would be missed silently is refused.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { isGiven, textField, textOf } from '../coerce.ts'
import { cpuCores, memoryBytes } from './quantity.ts'
import { volumeArguments } from './volumes.ts'

export interface ContainerRun {
  readonly args: readonly string[]
  /** For the environment of the runtime's client. */
  readonly env: Readonly<Record<string, string>>
  readonly image: string
}

export interface RunIdentity {
  readonly name: string
  readonly executionId: string
  readonly step: string
}

const words = (value: Json | undefined, field: string): readonly string[] => {
  if (!isGiven(value) || value === '') return []
  if (Array.isArray(value)) return value.map((word) => textOf(word) ?? '')
  if (typeof value === 'object') throw configFailure(`${field} must be a list of words`)
  return [String(value)]
}

const entryPoint = (
  config: JsonObject,
): { readonly entry: readonly string[]; readonly rest: readonly string[] } => {
  const { command } = config
  const given =
    typeof command === 'string' && command !== '' ? ['sh', '-c', command] : words(command, 'command')
  const [program, ...rest] = given
  return { entry: program === undefined ? [] : ['--entrypoint', program], rest }
}

const namedValue = (entry: Json): [string, string] => {
  const name = isObject(entry) ? textField(entry, 'name') : null
  if (!isObject(entry) || name === null) throw configFailure('An entry of env must be {name, value}')
  if (isGiven(entry['value_from'] ?? entry['valueFrom'])) {
    throw configFailure(
      `env ${name} reads a secret of a cluster. Store it as a credential and write value: "{{ keychain.<name>.<field> }}".`,
    )
  }
  return [name, textOf(entry['value']) ?? '']
}

const environmentOf = (config: JsonObject): Record<string, string> => {
  const { env } = config
  if (!isGiven(env) || env === '') return {}
  const entries = Array.isArray(env)
    ? (env as readonly Json[]).map(namedValue)
    : Object.entries(isObject(env) ? env : refuseEnv()).flatMap(([name, value]): [string, string][] => {
        const text = textOf(value)
        return text === null ? [] : [[name, text]]
      })
  for (const [name] of entries) {
    if (!/^[^=\0\s]+$/.test(name)) throw configFailure(`env has a name that no environment takes: ${name}`)
  }
  return Object.fromEntries(entries)
}

const refuseEnv = (): never => {
  throw configFailure('env must be a mapping, or a list of {name, value}')
}

const limitsOf = (config: JsonObject): readonly string[] => {
  const { resources } = config
  if (!isGiven(resources)) return []
  if (!isObject(resources))
    throw configFailure('resources must be a mapping such as {limits: {memory: 512Mi}}')
  const limits = isObject(resources['limits']) ? resources['limits'] : resources
  const { memory, cpu } = limits
  return [
    ...(isGiven(memory) ? ['--memory', String(memoryBytes(memory, 'resources.limits.memory'))] : []),
    ...(isGiven(cpu) ? ['--cpus', String(cpuCores(cpu, 'resources.limits.cpu'))] : []),
  ]
}

const PULL: Readonly<Record<string, string>> = {
  always: 'always',
  ifnotpresent: 'missing',
  missing: 'missing',
  never: 'never',
}

const pullOf = (config: JsonObject): readonly string[] => {
  const word = textField(config, 'pull', 'image_pull_policy')
  if (word === null) return []
  const policy = PULL[word.toLowerCase()]
  if (policy === undefined) throw configFailure('image_pull_policy must be Always, IfNotPresent or Never')
  return ['--pull', policy]
}

const option = (flag: string, value: string | null): readonly string[] =>
  value === null ? [] : [flag, value]

export const runArguments = (config: JsonObject, { name, executionId, step }: RunIdentity): ContainerRun => {
  const image = textField(config, 'image')
  if (image === null) throw configFailure('A container tool needs `image`')
  // It would be taken for an option of the runtime.
  if (image.startsWith('-')) throw configFailure(`image must be the name of an image, not "${image}"`)
  const env = environmentOf(config)
  const { entry, rest } = entryPoint(config)
  const args = [
    'run',
    '--rm',
    '--name',
    name,
    '--label',
    `noetl.execution=${executionId}`,
    '--label',
    `noetl.step=${step}`,
    ...(isGiven(config['stdin']) ? ['--interactive'] : []),
    ...Object.keys(env).flatMap((variable) => ['--env', variable]),
    ...limitsOf(config),
    ...volumeArguments(config),
    ...pullOf(config),
    ...option('--network', textField(config, 'network')),
    ...option('--user', textField(config, 'user')),
    ...option('--workdir', textField(config, 'cwd', 'working_dir')),
    ...entry,
    image,
    ...rest,
    ...words(config['args'], 'args'),
  ]
  return { args, env, image }
}
