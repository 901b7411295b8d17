/** What callers did, newest first. Rows are only added, and deleted when they are old. */
import type { Role } from '../contract/access.ts'
import type { JsonObject } from '../contract/json.ts'
import { storableJson } from '../lib/exact-json.ts'
import type { Database } from './database.ts'

export type AuditOutcome = 'success' | 'denied' | 'not_found' | 'error'

export interface AuditEntry {
  readonly actor: string
  readonly role: Role
  readonly tokenId: string | null
  /** `thing.verb`, such as `credential.read`. */
  readonly action: string
  /** The name of the thing. */
  readonly target: string | null
  readonly outcome: AuditOutcome
  readonly address: string | null
  readonly workerId: string | null
  readonly executionId: string | null
  readonly parentExecutionId: string | null
  /** Facts that are not secret. */
  readonly details: JsonObject
}

export interface AuditRow {
  readonly audit_id: string
  readonly occurred_at: string
  readonly actor: string
  readonly role: Role
  readonly token_id: string | null
  readonly action: string
  readonly target: string | null
  readonly outcome: AuditOutcome
  readonly address: string | null
  readonly worker_id: string | null
  readonly execution_id: string | null
  readonly parent_execution_id: string | null
  readonly details: JsonObject
}

const COLUMNS =
  'audit_id, occurred_at, actor, role, token_id, action, target, outcome, address, worker_id, execution_id, ' +
  'parent_execution_id, details'

export const insertAudit = async (database: Database, entry: AuditEntry): Promise<void> => {
  await database.query(
    `insert into noetl.audit (actor, role, token_id, action, target, outcome, address, worker_id, execution_id,
       parent_execution_id, details)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      entry.actor,
      entry.role,
      entry.tokenId,
      entry.action,
      entry.target,
      entry.outcome,
      entry.address,
      entry.workerId,
      entry.executionId,
      entry.parentExecutionId,
      storableJson(entry.details),
    ],
  )
}

export interface AuditFilter {
  readonly actor: string | null
  /** A whole action, or the thing before the dot. */
  readonly action: string | null
  readonly from: string | null
  readonly to: string | null
  /** Only rows older than this one. */
  readonly before: string | null
  readonly limit: number
}

export const listAudit = async (database: Database, filter: AuditFilter): Promise<readonly AuditRow[]> => {
  const { actor, action, from, to, before, limit } = filter
  const { rows } = await database.query<AuditRow>(
    `select ${COLUMNS} from noetl.audit
     where ($1::text is null or actor = $1) and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
       and ($3::timestamptz is null or occurred_at >= $3) and ($4::timestamptz is null or occurred_at < $4)
       and ($5::bigint is null or audit_id < $5)
     order by audit_id desc limit $6`,
    [actor, action, from, to, before, limit],
  )
  return rows
}

export interface SecretAuditFilter {
  readonly credential: string | null
  readonly executionId: string | null
  readonly from: string | null
  readonly to: string | null
  readonly limit: number
}

/** Actions that hand out a secret to work with. */
export const SECRET_LOOKS: readonly string[] = [
  'credential.read',
  'credential.seal',
  'keychain.read',
  'keychain.recipe',
  'ingress.read',
]

/** The looks at secrets among them. */
export const listSecretAudit = async (
  database: Database,
  filter: SecretAuditFilter,
): Promise<readonly AuditRow[]> => {
  const { credential, executionId, from, to, limit } = filter
  const { rows } = await database.query<AuditRow>(
    `select ${COLUMNS} from noetl.audit
     where action = any ($6)
       and ($1::text is null or target = $1) and ($2::bigint is null or execution_id = $2)
       and ($3::timestamptz is null or occurred_at >= $3) and ($4::timestamptz is null or occurred_at < $4)
     order by audit_id desc limit $5`,
    [credential, executionId, from, to, limit, SECRET_LOOKS],
  )
  return rows
}

/** How many were deleted; at most `max`. */
export const deleteOldAudit = async (
  database: Database,
  { days, max }: { readonly days: number; readonly max: number },
): Promise<number> => {
  const { rowCount } = await database.query(
    `delete from noetl.audit where audit_id in (
       select audit_id from noetl.audit where occurred_at < now() - make_interval(days => $1)
       order by occurred_at limit $2)`,
    [days, max],
  )
  return rowCount ?? 0
}
