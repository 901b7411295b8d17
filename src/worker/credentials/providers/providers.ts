/**
 * Every place secrets can come from, by name.
 *
 * Managers of clouds have names, so that playbooks keep them; asking one says what to do instead.
 */
import type { Credential } from '../../../contract/command.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { createOutboundFetch, type OutboundFetch } from '../../tools/http/outbound-fetch.ts'
import { credentialMalformed, credentialNotFound } from '../credential-failure.ts'
import type { SecretSettings } from '../secret-settings.ts'
import { createEnvProvider, createFileProvider } from './local-providers.ts'
import type { SecretProvider } from './secret-provider.ts'
import { createVaultProvider } from './vault.ts'

/** Looks a stored credential up; null when there is none. */
export type FindStored = (alias: string, signal: AbortSignal) => Promise<Credential | null>

export interface SecretProviders {
  /** Asks others by the word of a playbook. */
  readonly fetch: OutboundFetch
  /** Throws a ToolFailure for a name that is none, or one that cannot be used here. */
  get(name: string, find: FindStored): SecretProvider
}

const CLOUDS: Readonly<Record<string, string>> = {
  gcp: 'Google Secret Manager',
  google: 'Google Secret Manager',
  aws: 'AWS Secrets Manager',
  azure: 'Azure Key Vault',
  k8s: 'secrets of Kubernetes',
  kubernetes: 'secrets of Kubernetes',
}

/** `name` or `name.field`; a name may have dots itself, so the whole is tried first. */
const createCredentialProvider =
  (find: FindStored): SecretProvider =>
  async ({ path, signal }) => {
    const whole = await find(path, signal)
    if (whole !== null) return whole.data
    const dot = path.lastIndexOf('.')
    const [alias, field] = [path.slice(0, dot), path.slice(dot + 1)]
    const credential = dot > 0 ? await find(alias, signal) : null
    if (credential === null) throw credentialNotFound(path)
    const { data, type } = credential
    if (isObject(data) && Object.hasOwn(data, field)) return data[field] ?? null
    throw credentialMalformed(alias, type, `has no field '${field}'`)
  }

const cloudFailure = (name: string, product: string): ToolFailure =>
  new ToolFailure({
    kind: 'config',
    code: 'TOOL_UNAVAILABLE',
    message:
      `${product} (provider: ${name}) is not asked by this worker. Store the secret as a credential and use provider: credential, ` +
      'or use env, file or vault.',
    retryable: false,
  })

export const createSecretProviders = (settings: SecretSettings): SecretProviders => {
  const fetch = createOutboundFetch(settings.allowPrivateAddresses)
  const fixed: Readonly<Record<string, SecretProvider>> = {
    env: createEnvProvider(settings),
    file: createFileProvider(settings),
    vault: createVaultProvider(settings.vault, fetch),
  }
  return {
    fetch,
    get(written, find) {
      const name = written.trim().toLowerCase()
      if (name === 'credential' || name === 'noetl') return createCredentialProvider(find)
      const provider = Object.hasOwn(fixed, name) ? fixed[name] : undefined
      if (provider !== undefined) return provider
      const cloud = Object.hasOwn(CLOUDS, name) ? CLOUDS[name] : undefined
      if (cloud !== undefined) throw cloudFailure(name, cloud)
      throw configFailure(
        `There is no provider "${written}" of secrets. There are: credential, env, file, vault.`,
      )
    },
  }
}
