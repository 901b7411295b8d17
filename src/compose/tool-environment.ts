/** The environment tools see: the user's, without NoETL's own settings, among which are keys and passwords. */
import type { Env } from './settings.ts'

export const toolEnvironment = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('NOETL_')))
