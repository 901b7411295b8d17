/**
 * The environment tools see: the user's, without NoETL's own settings, among which are keys and passwords, and without the
 * secrets that playbooks get through the keychain.
 */
import { secretVariableNames } from '../worker/credentials/secret-settings.ts'
import type { Env } from './settings.ts'

export const toolEnvironment = (env: Env): Env => {
  const hidden = new Set(['VAULT_TOKEN', ...secretVariableNames(env)])
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('NOETL_') && !hidden.has(name)),
  )
}
