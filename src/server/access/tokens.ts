/** Making tokens, and how they are shown. The same for the API and for a command that has the database to itself. */
import type { Role } from '../../contract/access.ts'
import type { CreatedTokenAnswer, TokenAnswer } from '../../contract/answers-access.ts'
import { digestOf, formatToken, mintSecret } from '../../lib/access-token.ts'
import type { Database } from '../../store/database.ts'
import type { TokenRow } from '../../store/tokens.ts'
import { insertToken } from '../../store/tokens.ts'

export interface TokenOrder {
  readonly name: string
  readonly role: Role
  /** Null for a token that does not expire. */
  readonly expiresInSeconds: number | null
  readonly createdBy: string
}

/** The token itself is in the answer and nowhere else. */
export const createToken = async (database: Database, order: TokenOrder): Promise<CreatedTokenAnswer> => {
  const secret = mintSecret()
  const row = await insertToken(database, { ...order, digest: digestOf(secret) })
  return { ...tokenAnswer(row), token: formatToken(row.id, secret) }
}

export const tokenAnswer = (row: TokenRow): TokenAnswer => {
  const { expired, ...shown } = row
  return { ...shown, status: row.revoked_at !== null ? 'revoked' : expired ? 'expired' : 'active' }
}
