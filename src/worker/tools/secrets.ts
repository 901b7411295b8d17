/**
 * Kind `secrets`: fetches a secret from where it is kept.
 *
 * 1. `provider` is `credential` (stored here), `env`, `file` or `vault`; `path` is what the provider calls the secret, or `map`
 *    has several of them by name.
 * 2. With `keychain: name` the secret becomes an entry of the keychain of this run, and the data names it and its fields: no value is in
 *    the result, and later steps read `{{ keychain.name.field }}`, which is looked up in the worker.
 * 3. Without it the data has the value under `secret`, a name under which the control plane seals what it stores. What a later
 *    step makes of it is its own affair, so the keychain is the better way.
 */
import type { ControlPlane } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { secrets } from '../../contract/tools/secrets.ts'
import { systemClock } from '../clock.ts'
import { createCredentialSource, type CredentialSource } from '../credentials/credential-source.ts'
import { createSecretProviders } from '../credentials/providers/providers.ts'
import { createRecipeResolver } from '../credentials/recipe/resolve-recipe.ts'
import type { SecretSettings } from '../credentials/secret-settings.ts'
import { durationMs } from '../duration.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { isGiven, textField, textOf } from './coerce.ts'

export interface SecretsToolOptions {
  readonly settings: SecretSettings
  readonly controlPlane: Pick<ControlPlane, 'credential' | 'keychainRecipe' | 'keepKeychain'>
}

export interface SecretsTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
  close(): Promise<void>
}

const DEFAULT_SECONDS = 3_600

const pathsOf = (config: JsonObject): string | Readonly<Record<string, string>> => {
  const { map } = config
  if (isObject(map)) {
    return Object.fromEntries(Object.entries(map).map(([name, path]) => [name, textOf(path) ?? '']))
  }
  if (isGiven(map) && map !== '') throw configFailure('map must be a mapping of names to paths')
  const path = textField(config, 'path', 'secret', 'secret_name', 'key')
  if (path === null) throw configFailure('A secrets tool needs `path`, or `map` with several')
  return path
}

export const createSecretsTool = ({ settings, controlPlane }: SecretsToolOptions): SecretsTool => {
  const providers = createSecretProviders(settings)
  const resolve = createRecipeResolver({ providers, now: () => systemClock.now() })
  const source: CredentialSource = createCredentialSource({ controlPlane, clock: systemClock, resolve })

  const read = async ({ config, command, signal }: ToolCall): Promise<Json> => {
    const provider = providers.get(textField(config, 'provider') ?? 'credential', (alias, abort) =>
      source.find(command.executionId, alias, abort),
    )
    const ask = (path: string): Promise<Json> => provider({ path, options: config, signal })
    const paths = pathsOf(config)
    if (typeof paths === 'string') return ask(paths)
    const entries = Object.entries(paths).map(async ([name, path]) => [name, await ask(path)] as const)
    return Object.fromEntries(await Promise.all(entries))
  }

  const keep = async (
    name: string,
    secret: Json,
    { config, command, signal }: ToolCall,
  ): Promise<JsonObject> => {
    const data = isObject(secret) ? secret : { value: secret }
    const { catalogId, executionId } = command
    const expiresInSeconds = Math.ceil((durationMs(config['ttl'], 'ttl') ?? DEFAULT_SECONDS * 1000) / 1000)
    const address = { name, catalogId, scope: 'local', executionId } as const
    await controlPlane.keepKeychain({ entry: { address, data, expiresInSeconds, renewConfig: null }, signal })
    return { keychain: name, fields: Object.keys(data) }
  }

  const fetchSecret = async (call: ToolCall): Promise<ToolResult> => {
    const { config } = call
    const secret = await read(call)
    const name = textField(config, 'keychain')
    const told = name === null ? { secret } : await keep(name, secret, call)
    const provider = (textField(config, 'provider') ?? 'credential').toLowerCase()
    return { outcome: 'ok', data: { status: 'success', provider, ...told } }
  }

  return {
    kind: 'secrets',
    declaration: secrets,
    instant: false,
    async run(call) {
      try {
        return await fetchSecret(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? call.signal.reason : thrown)
      }
    },
    close() {
      source.clear()
      return Promise.resolve()
    },
  }
}
