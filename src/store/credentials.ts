/** Credentials: secrets by name, stored as envelopes. What is in an envelope is not the store's business. */
import type { Json } from '../contract/json.ts'
import type { Database } from './database.ts'

export interface CredentialRow {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly data_encrypted: string
  readonly meta: Json
  readonly tags: readonly string[] | null
  readonly description: string | null
  readonly created_at: string
  readonly updated_at: string
}

const COLUMNS = 'id, name, type, data_encrypted, meta, tags, description, created_at, updated_at'

export interface CredentialToWrite {
  /** Used when the name is new; a credential that exists keeps its id. */
  readonly id: string
  readonly name: string
  readonly type: string
  readonly dataEncrypted: string
  /** JSON text. */
  readonly schema: string | null
  /** JSON text. */
  readonly meta: string | null
  readonly tags: readonly string[] | null
  readonly description: string | null
}

/** Creates or replaces the credential of this name in one statement: two writers never make two. */
export const upsertCredential = async (
  database: Database,
  credential: CredentialToWrite,
): Promise<CredentialRow> => {
  const { id, name, type, dataEncrypted, schema, meta, tags, description } = credential
  const { rows } = await database.query<CredentialRow>(
    `insert into noetl.credential as c (id, name, type, data_encrypted, schema, meta, tags, description)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict on constraint credential_by_name do update
     set type = excluded.type, data_encrypted = excluded.data_encrypted, schema = excluded.schema, meta = excluded.meta,
       tags = excluded.tags, description = excluded.description, updated_at = greatest(now(), c.updated_at)
     returning ${COLUMNS}`,
    [id, name, type, dataEncrypted, schema, meta, tags, description],
  )
  const [row] = rows
  if (!row) throw new Error('an upsert returned no row')
  return row
}

/** By name; part of a name or description without regard to case when `text` is given. */
export const listCredentials = async (
  database: Database,
  { type, text }: { type: string | null; text: string | null },
): Promise<readonly CredentialRow[]> => {
  const { rows } = await database.query<CredentialRow>(
    `select ${COLUMNS} from noetl.credential
     where ($1::text is null or type = $1)
       and ($2::text is null or position(lower($2) in lower(name)) > 0 or position(lower($2) in lower(description)) > 0)
     order by name`,
    [type, text],
  )
  return rows
}

/** A number is first taken for an id, then for a name. */
export const findCredential = async (
  database: Database,
  name: string,
  id: string | null,
): Promise<CredentialRow | null> => {
  const { rows } = await database.query<CredentialRow>(
    `select ${COLUMNS} from noetl.credential where id = $2 or name = $1 order by id = $2 desc nulls last limit 1`,
    [name, id],
  )
  return rows[0] ?? null
}

/** The id of the deleted one; null when there was none. */
export const deleteCredential = async (
  database: Database,
  name: string,
  id: string | null,
): Promise<string | null> => {
  const { rows } = await database.query<{ id: string }>(
    `delete from noetl.credential where id = (
       select id from noetl.credential where id = $2 or name = $1 order by id = $2 desc nulls last limit 1)
     returning id`,
    [name, id],
  )
  return rows[0]?.id ?? null
}

export interface StoredEnvelope {
  readonly key: string
  readonly data: string
}

export const envelopesOfCredentials = async (
  database: Database,
  after: string | null,
  limit: number,
): Promise<readonly StoredEnvelope[]> => {
  const { rows } = await database.query<StoredEnvelope>(
    `select id as key, data_encrypted as data from noetl.credential where $1::bigint is null or id > $1 order by id limit $2`,
    [after, limit],
  )
  return rows
}

/** False when somebody wrote another envelope meanwhile. */
export const replaceCredentialEnvelope = async (
  database: Database,
  { key, data }: StoredEnvelope,
  next: string,
): Promise<boolean> => {
  const { rowCount } = await database.query(
    'update noetl.credential set data_encrypted = $3 where id = $1 and data_encrypted = $2',
    [key, data, next],
  )
  return rowCount === 1
}

export interface KeyUse {
  readonly table: 'credential' | 'keychain'
  readonly version: string | null
  /** Null for envelopes that do not name their key. */
  readonly fingerprint: string | null
  readonly count: number
}

/** How many envelopes are under which master key. */
export const countKeyUse = async (database: Database): Promise<readonly KeyUse[]> => {
  const { rows } = await database.query<KeyUse>(
    `with envelope as (
       select 'credential' as place, data_encrypted::json -> 'dek' as dek from noetl.credential
       union all select 'keychain', data_encrypted::json -> 'dek' from noetl.keychain)
     select place as table, dek ->> 'kv' as version, dek ->> 'fp' as fingerprint, count(*)::int as count
     from envelope group by 1, 2, 3 order by 1, 2, 3`,
  )
  return rows
}
