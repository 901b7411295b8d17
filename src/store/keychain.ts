/**
 * The keychain: secrets kept for a playbook until they expire.
 *
 * 1. An entry is found by its cache key alone; the key says name, catalog entry and scope.
 * 2. Expiry is judged by the database's clock.
 * 3. Reading a live entry counts as an access, reading an expired one does not.
 */
import type { KeychainScope } from '../contract/api-secrets.ts'
import type { Database } from './database.ts'

export interface KeychainRow {
  readonly cache_key: string
  readonly keychain_name: string
  readonly catalog_id: string
  readonly credential_type: string | null
  readonly cache_type: string
  readonly scope_type: KeychainScope
  readonly execution_id: string | null
  readonly data_encrypted: string
  readonly renew_config_encrypted: string | null
  readonly auto_renew: boolean
  readonly expires_at: string
  readonly created_at: string
  readonly accessed_at: string | null
  readonly access_count: number
  readonly expired: boolean
  /** Negative once expired. */
  readonly ttl_seconds: number
}

const COLUMNS =
  'cache_key, keychain_name, catalog_id, credential_type, cache_type, scope_type, execution_id, data_encrypted, ' +
  'renew_config_encrypted, auto_renew, expires_at, created_at, accessed_at, access_count::double precision as access_count, ' +
  'expires_at <= now() as expired, extract(epoch from expires_at - now())::double precision as ttl_seconds'

export interface KeychainPlace {
  readonly name: string
  readonly catalogId: string
  readonly scope: KeychainScope
  readonly executionId: string | null
}

export const cacheKeyOf = ({ name, catalogId, scope, executionId }: KeychainPlace): string => {
  if (scope === 'local') return `${name}:${catalogId}:${executionId ?? 'local'}`
  if (scope === 'shared')
    return executionId === null ? `${name}:${catalogId}:shared` : `${name}:${catalogId}:shared:${executionId}`
  return `${name}:${catalogId}:global`
}

export interface KeychainToWrite extends KeychainPlace {
  readonly parentExecutionId: string | null
  readonly credentialType: string | null
  readonly cacheType: 'token' | 'secret'
  readonly dataEncrypted: string
  readonly renewConfigEncrypted: string | null
  readonly autoRenew: boolean
  /** Wins over the number of seconds. */
  readonly expiresAt: string | null
  readonly expiresInSeconds: number
}

/** Creates or replaces an entry; null when there is no such catalog entry. */
export const upsertKeychainEntry = async (
  database: Database,
  entry: KeychainToWrite,
): Promise<KeychainRow | null> => {
  const { rows } = await database.query<KeychainRow>(
    // The lock keeps the catalog entry from being deleted before its keychain entry is there.
    `insert into noetl.keychain (cache_key, keychain_name, catalog_id, credential_type, cache_type, scope_type, execution_id,
       parent_execution_id, data_encrypted, renew_config_encrypted, auto_renew, expires_at)
     select $1, $2, c.catalog_id, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12::timestamptz, now() + $13 * interval '1 second')
     from (select catalog_id from noetl.catalog where catalog_id = $3 for key share) c
     on conflict (cache_key) do update
     set credential_type = excluded.credential_type, cache_type = excluded.cache_type, execution_id = excluded.execution_id,
       parent_execution_id = excluded.parent_execution_id, data_encrypted = excluded.data_encrypted,
       renew_config_encrypted = excluded.renew_config_encrypted, auto_renew = excluded.auto_renew, expires_at = excluded.expires_at
     returning ${COLUMNS}`,
    [
      cacheKeyOf(entry),
      entry.name,
      entry.catalogId,
      entry.credentialType,
      entry.cacheType,
      entry.scope,
      entry.executionId,
      entry.parentExecutionId,
      entry.dataEncrypted,
      entry.renewConfigEncrypted,
      entry.autoRenew,
      entry.expiresAt,
      entry.expiresInSeconds,
    ],
  )
  return rows[0] ?? null
}

/** The first of these entries that is there, live ones before expired ones. */
export const accessKeychain = async (
  database: Database,
  cacheKeys: readonly string[],
): Promise<KeychainRow | null> => {
  const { rows } = await database.query<KeychainRow>(
    `update noetl.keychain set
       access_count = access_count + (expires_at > now())::int,
       accessed_at = case when expires_at > now() then now() else accessed_at end
     where cache_key = (
       select cache_key from noetl.keychain where cache_key = any ($1)
       order by expires_at <= now(), array_position($1, cache_key) limit 1)
     returning ${COLUMNS}`,
    [cacheKeys],
  )
  return rows[0] ?? null
}

export const deleteKeychainEntry = async (database: Database, cacheKey: string): Promise<boolean> => {
  const { rowCount } = await database.query('delete from noetl.keychain where cache_key = $1', [cacheKey])
  return rowCount === 1
}

export const listKeychain = async (
  database: Database,
  catalogId: string,
): Promise<readonly KeychainRow[]> => {
  const { rows } = await database.query<KeychainRow>(
    `select ${COLUMNS} from noetl.keychain where catalog_id = $1 order by keychain_name, cache_key`,
    [catalogId],
  )
  return rows
}

/** Deletes entries that expired so long ago that nobody will renew them. */
export const deleteExpiredKeychain = async (
  database: Database,
  { graceSeconds, max }: { graceSeconds: number; max: number },
): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.keychain where cache_key = any (array(
       select cache_key from noetl.keychain where expires_at < now() - $1 * interval '1 second' limit $2))`,
    [graceSeconds, max],
  )
  return rowCount ?? 0
}

export interface KeychainEnvelopes {
  readonly key: string
  readonly data: string
  readonly renewConfig: string | null
}

export const envelopesOfKeychain = async (
  database: Database,
  after: string | null,
  limit: number,
): Promise<readonly KeychainEnvelopes[]> => {
  const { rows } = await database.query<KeychainEnvelopes>(
    `select cache_key as key, data_encrypted as data, renew_config_encrypted as "renewConfig" from noetl.keychain
     where $1::text is null or cache_key > $1 order by cache_key limit $2`,
    [after, limit],
  )
  return rows
}

/** False when somebody wrote another envelope meanwhile. */
export const replaceKeychainEnvelopes = async (
  database: Database,
  { key, data }: KeychainEnvelopes,
  next: { data: string; renewConfig: string | null },
): Promise<boolean> => {
  const { rowCount } = await database.query(
    'update noetl.keychain set data_encrypted = $3, renew_config_encrypted = $4 where cache_key = $1 and data_encrypted = $2',
    [key, data, next.data, next.renewConfig],
  )
  return rowCount === 1
}
