/** Secrets of this machine: variables and files, as far as the worker's settings open them. */
import { readFile, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'

import { configFailure } from '../../tool-failure.ts'
import type { SecretSettings } from '../secret-settings.ts'
import { type SecretProvider, secretNotFound } from './secret-provider.ts'

const MOST_BYTES = 1024 * 1024

export const createEnvProvider =
  ({ variables }: SecretSettings): SecretProvider =>
  async ({ path }) => {
    const value = Object.hasOwn(variables, path) ? variables[path] : undefined
    if (value !== undefined) return value
    throw secretNotFound(
      `The variable ${path} is not open to playbooks: set it for the worker and name it in NOETL_KEYCHAIN_ENV_VARS`,
    )
  }

const isInside = (directory: string, path: string): boolean => {
  const way = relative(directory, path)
  return way !== '' && !way.startsWith('..') && !isAbsolute(way)
}

/** Links are followed before the place is judged, so that none leads out. */
const openPlace = async (path: string, directories: readonly string[]): Promise<string | null> => {
  for (const directory of directories) {
    const root = await realpath(directory).catch(() => null)
    const place = root === null ? null : await realpath(resolve(root, path)).catch(() => null)
    if (root !== null && place !== null && isInside(root, place)) return place
  }
  return null
}

export const createFileProvider =
  ({ directories }: SecretSettings): SecretProvider =>
  async ({ path, signal }) => {
    if (path.includes('\0')) throw configFailure('A path cannot contain a NUL character')
    const place = await openPlace(path, directories)
    if (place === null) {
      throw secretNotFound(
        `There is no file ${path} in ${directories.join(' or ')}, where secrets may lie (NOETL_SECRETS_DIR)`,
      )
    }
    const bytes = await readFile(place, { signal })
    if (bytes.length > MOST_BYTES)
      throw configFailure(`The file ${path} is larger than a secret may be (1 MB)`)
    // Editors end files with a line end; no secret is meant to have one.
    return bytes.toString('utf8').replace(/\r?\n$/, '')
  }
