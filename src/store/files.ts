/** Files that workers fetch: code by path and version, objects by key. */
import type { Database } from './database.ts'

export interface StoredFile {
  readonly digest: string
  readonly media_type: string
  readonly bytes: Buffer
}

export const writePlugin = async (
  database: Database,
  { path, version, digest, mediaType, bytes }: StoredFileToWrite & { path: string; version: number },
): Promise<void> => {
  await database.query(
    `insert into noetl.plugin_module (path, version, digest, media_type, bytes) values ($1, $2, $3, $4, $5)
     on conflict (path, version) do update
     set digest = excluded.digest, media_type = excluded.media_type, bytes = excluded.bytes, updated_at = now()`,
    [path, version, digest, mediaType, bytes],
  )
}

interface StoredFileToWrite {
  readonly digest: string
  readonly mediaType: string
  readonly bytes: Buffer
}

export const readPlugin = async (
  database: Database,
  path: string,
  version: number,
): Promise<StoredFile | null> => {
  const { rows } = await database.query<StoredFile>(
    'select digest, media_type, bytes from noetl.plugin_module where path = $1 and version = $2',
    [path, version],
  )
  return rows[0] ?? null
}

export const writeObject = async (
  database: Database,
  { key, digest, mediaType, bytes }: StoredFileToWrite & { key: string },
): Promise<void> => {
  await database.query(
    `insert into noetl.object (object_key, digest, media_type, bytes) values ($1, $2, $3, $4)
     on conflict (object_key) do update
     set digest = excluded.digest, media_type = excluded.media_type, bytes = excluded.bytes, updated_at = now()`,
    [key, digest, mediaType, bytes],
  )
}

export const readObject = async (database: Database, key: string): Promise<StoredFile | null> => {
  const { rows } = await database.query<StoredFile>(
    'select digest, media_type, bytes from noetl.object where object_key = $1',
    [key],
  )
  return rows[0] ?? null
}
