/** Access tokens by number. The store knows the digest of a token's secret and never the secret. */
import type { Role } from '../contract/access.ts'
import type { Database } from './database.ts'

export interface TokenRow {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly revoked_at: string | null
  readonly revoked_by: string | null
  /** By the database's clock, when the row was read. */
  readonly expired: boolean
}

export interface TokenWithDigest extends TokenRow {
  readonly secret_digest: Buffer
}

const COLUMNS =
  'id, name, role, created_at, created_by, expires_at, last_used_at, revoked_at, revoked_by, ' +
  'coalesce(expires_at <= now(), false) as expired'

export interface NewToken {
  readonly name: string
  readonly role: Role
  readonly digest: Buffer
  readonly createdBy: string
  /** Null for a token that does not expire. */
  readonly expiresInSeconds: number | null
}

export const insertToken = async (database: Database, token: NewToken): Promise<TokenRow> => {
  const { name, role, digest, createdBy, expiresInSeconds } = token
  const { rows } = await database.query<TokenRow>(
    `insert into noetl.access_token (name, role, secret_digest, created_by, expires_at)
     values ($1, $2, $3, $4, now() + make_interval(secs => $5)) returning ${COLUMNS}`,
    [name, role, digest, createdBy, expiresInSeconds],
  )
  const [row] = rows
  if (!row) throw new Error('an insert returned no row')
  return row
}

export const readToken = async (database: Database, id: string): Promise<TokenWithDigest | null> => {
  const { rows } = await database.query<TokenWithDigest>(
    `select ${COLUMNS}, secret_digest from noetl.access_token where id = $1`,
    [id],
  )
  return rows[0] ?? null
}

/** In the order in which they were made. */
export const listTokens = async (
  database: Database,
  { includeRevoked }: { readonly includeRevoked: boolean },
): Promise<readonly TokenRow[]> => {
  const { rows } = await database.query<TokenRow>(
    `select ${COLUMNS} from noetl.access_token where $1 or revoked_at is null order by id`,
    [includeRevoked],
  )
  return rows
}

/** The row after it; null when there is no such token. Who revoked it first stays on record. */
export const revokeToken = async (
  database: Database,
  id: string,
  revokedBy: string,
): Promise<TokenRow | null> => {
  const { rows } = await database.query<TokenRow>(
    `update noetl.access_token
     set revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, $2)
     where id = $1 returning ${COLUMNS}`,
    [id, revokedBy],
  )
  return rows[0] ?? null
}

/** True from the first token on, for good: revoked and expired ones count. */
export const hasTokens = async (database: Database): Promise<boolean> =>
  (await database.query('select 1 from noetl.access_token limit 1')).rows.length > 0

/** Never moves backwards, whichever server writes last. */
export const recordTokenUse = async (database: Database, id: string): Promise<void> => {
  await database.query(
    'update noetl.access_token set last_used_at = greatest(last_used_at, now()) where id = $1',
    [id],
  )
}
