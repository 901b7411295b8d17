/** The key that seals secrets at rest: from the environment, else from a file in the data directory, made once. */
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ProblemError } from '../contract/problem.ts'
import { KEY_BYTES } from '../lib/sealer.ts'
import { makeDirectory } from '../store/embedded/make-directory.ts'

export interface EncryptionKeys {
  readonly key: Buffer
  /** A key that was in use before and still opens what it sealed. */
  readonly previous: readonly Buffer[]
  /** Where the generated key lies; null when one was given. */
  readonly file: string | null
}

export interface ConfiguredKeys {
  readonly encryptionKey: string | null
  readonly previousEncryptionKey: string | null
  readonly dataDir: string
}

/** The keys there are; without a key of its own yet, `key` is null and `file` says where one belongs. */
export type FoundKeys = Omit<EncryptionKeys, 'key'> & { readonly key: Buffer | null }

export const findEncryptionKeys = ({
  encryptionKey,
  previousEncryptionKey,
  dataDir,
}: ConfiguredKeys): FoundKeys => {
  const previous =
    previousEncryptionKey === null ? [] : [decodeKey(previousEncryptionKey, 'NOETL_ENCRYPTION_KEY_PREVIOUS')]
  if (encryptionKey !== null)
    return { key: decodeKey(encryptionKey, 'NOETL_ENCRYPTION_KEY'), previous, file: null }
  const file = join(dataDir, 'encryption.key')
  return { key: existsSync(file) ? readKeyFile(file) : null, previous, file }
}

/** The same, with a new key where there was none. */
export const completeKeys = ({ key, previous, file }: FoundKeys): EncryptionKeys => {
  if (key !== null) return { key, previous, file }
  if (file === null) throw new Error('a key is either given or kept in a file')
  createKeyFile(file)
  return { key: readKeyFile(file), previous, file }
}

const readKeyFile = (file: string): Buffer => decodeKey(readFileSync(file, 'utf8'), file)

const decodeKey = (text: string, source: string): Buffer => {
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== KEY_BYTES) {
    throw new ProblemError(
      'invalid',
      `${source} must be base64 of ${KEY_BYTES} bytes; make one with: head -c 32 /dev/urandom | base64`,
    )
  }
  return key
}

/** Written aside and linked into place, so that two that start at once end up with one key. */
const createKeyFile = (file: string): void => {
  makeDirectory(dirname(file))
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    unlinkSync(draft)
  }
}
