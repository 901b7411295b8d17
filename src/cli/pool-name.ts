/**
 * The name of the pool that a worker takes work from.
 *
 * 1. Executions may name any pool they like; a worker is for one of them, and its name is written as it is there.
 * 2. What can only be a slip is refused before a server is asked, because a worker of a pool that nobody names waits in
 *    silence: an empty name, several names, a pattern (no worker takes work by pattern), control characters, a whole text.
 */
import { ProblemError } from '../contract/problem.ts'

const LONGEST = 100
const FLAG = '--pool (NOETL_POOL)'

export const poolName = (given: string): string => {
  const pool = given.trim()
  if (pool === '') throw new ProblemError('invalid', `${FLAG} is empty; name one, such as shared`)
  if (/\p{Cc}/u.test(pool) || !pool.isWellFormed())
    throw refusal('must be the name of one pool on one line', pool)
  if (pool.length > LONGEST) throw refusal(`must be a name of at most ${LONGEST} characters`, pool)
  if (/[,;]/.test(pool))
    throw refusal('must be the name of one pool; start a worker for each of several pools', pool)
  if (/[*>]/.test(pool)) throw refusal('must be the name of one pool, not a pattern', pool)
  return pool
}

const SHOWN = 60

const refusal = (rule: string, pool: string): ProblemError => {
  const shown = pool.length > SHOWN ? `${pool.slice(0, SHOWN)}…` : pool
  return new ProblemError('invalid', `${FLAG} ${rule}, got ${JSON.stringify(shown)}`)
}
