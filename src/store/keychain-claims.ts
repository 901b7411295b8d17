/**
 * Who makes an entry of the keychain that several need at once.
 *
 * 1. A claim is a hint with an end: who dies with it, or fails, holds nobody up for longer than that.
 * 2. Whoever has a claim may claim again.
 * 3. An entry that is kept ends its claim.
 */
import type { Database } from './database.ts'

/** Longer than anybody waits for another one's claim. */
const CLAIM_SECONDS = 10

/** Whether the entry is now this holder's to make. */
export const claimKeychain = async (
  database: Database,
  { cacheKey, holder }: { readonly cacheKey: string; readonly holder: string },
): Promise<boolean> => {
  const { rowCount } = await database.query(
    `with old as (delete from noetl.keychain_claim where until < now() and cache_key <> $1)
     insert into noetl.keychain_claim as k (cache_key, holder, until)
     values ($1, $2, now() + ${CLAIM_SECONDS} * interval '1 second')
     on conflict (cache_key) do update set holder = excluded.holder, until = excluded.until
     where k.holder = excluded.holder or k.until < now()`,
    [cacheKey, holder],
  )
  return rowCount === 1
}

export const endKeychainClaim = async (database: Database, cacheKey: string): Promise<void> => {
  await database.query('delete from noetl.keychain_claim where cache_key = $1', [cacheKey])
}
