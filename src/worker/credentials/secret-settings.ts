/**
 * Where this worker may look for secrets besides the control plane. Read from its own environment, which tools do not see.
 *
 * 1. Of the environment only the variables named in `NOETL_KEYCHAIN_ENV_VARS` can be asked for.
 * 2. Of the file system only what lies below the directories of `NOETL_SECRETS_DIR` (`/run/secrets` by default).
 */

type Env = Readonly<Record<string, string | undefined>>

export interface SecretSettings {
  readonly variables: Readonly<Record<string, string>>
  readonly directories: readonly string[]
  readonly vault: VaultSettings
  /** False keeps requests that playbooks describe away from private addresses; not those to the Vault of the settings. */
  readonly allowPrivateAddresses: boolean
}

/** Null where nothing is set; a call or a credential may say it instead. */
export interface VaultSettings {
  readonly address: string | null
  readonly token: string | null
  readonly namespace: string | null
}

const words = (text: string | undefined, separator: RegExp): readonly string[] =>
  (text ?? '')
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** The names of the variables that may be asked for. */
export const secretVariableNames = (env: Env): readonly string[] =>
  words(env['NOETL_KEYCHAIN_ENV_VARS'], /[\s,]+/)

export const readSecretSettings = (env: Env, allowPrivateAddresses = true): SecretSettings => {
  const given = secretVariableNames(env).flatMap((name): [string, string][] => {
    const value = env[name]
    return value === undefined ? [] : [[name, value]]
  })
  const directories = words(env['NOETL_SECRETS_DIR'], /:/)
  return {
    variables: Object.fromEntries(given),
    directories: directories.length === 0 ? ['/run/secrets'] : directories,
    vault: {
      address: env['VAULT_ADDR'] ?? null,
      token: env['VAULT_TOKEN'] ?? null,
      namespace: env['VAULT_NAMESPACE'] ?? null,
    },
    allowPrivateAddresses,
  }
}

export const NO_SECRET_SETTINGS: SecretSettings = {
  variables: {},
  directories: [],
  vault: { address: null, token: null, namespace: null },
  allowPrivateAddresses: true,
}
