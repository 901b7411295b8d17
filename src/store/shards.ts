/**
 * Where an execution lives. Every access to a row of an execution goes through this map; one database is the
 * case of one shard. What belongs to no execution (the catalog) lives on the first database.
 */
import { ProblemError } from '../contract/problem.ts'
import { xxh64OfInt64 } from '../lib/xxh64.ts'
import type { Database } from './database.ts'

export const shardFor = (executionId: string, count: number): number =>
  count <= 1 ? 0 : Number(xxh64OfInt64(BigInt(executionId)) % BigInt(count))

export interface Shards {
  /** Catalog and everything else that is not per execution. */
  readonly cluster: Database
  readonly all: readonly Database[]
  of(executionId: string): Database
}

export const createShards = (all: readonly Database[]): Shards => {
  const [cluster] = all
  if (!cluster) throw new Error('at least one database is needed')
  return {
    cluster,
    all,
    of: (executionId) => all[shardFor(executionId, all.length)] ?? cluster,
  }
}

/** First shard that has an answer, for ids that do not tell their execution. */
export const findFirst = async <T>(
  shards: Shards,
  ask: (database: Database) => Promise<T | null>,
): Promise<T | null> => {
  for (const database of shards.all) {
    const answer = await ask(database)
    if (answer !== null) return answer
  }
  return null
}

/** Works on every database, also when one of them fails; only then is the first failure thrown. */
export const onEvery = async (
  { all }: Shards,
  work: (database: Database) => Promise<number>,
): Promise<number> => {
  const done = await Promise.allSettled(all.map(work))
  const failure = done.find((outcome) => outcome.status === 'rejected')
  if (failure) throw failure.reason
  return done.reduce((sum, outcome) => sum + (outcome.status === 'fulfilled' ? outcome.value : 0), 0)
}

const KEYS: Readonly<Record<string, string>> = {
  host: 'host',
  port: 'port',
  user: 'user',
  password: 'password',
  database: 'database',
  dbname: 'database',
}

/** `host=a;port=5432;user=u;password=p;database=d`, several separated by commas: the form of NOETL_SHARDS. */
export const parseShardList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry, index) => shardUrl(entry, index))

const shardUrl = (entry: string, index: number): string => {
  if (/^postgres(ql)?:\/\//.test(entry)) return entry
  const fields: Record<string, string> = { port: '5432', database: 'noetl' }
  for (const pair of entry.split(';').filter((part) => part.trim() !== '')) {
    const at = pair.indexOf('=')
    const key = KEYS[pair.slice(0, at).trim().toLowerCase()]
    if (at < 1 || key === undefined)
      throw shardProblem(
        index,
        `'${pair.slice(0, at < 1 ? undefined : at).trim()}' is not one of host, port, user, password, database`,
      )
    fields[key] = pair.slice(at + 1).trim()
  }
  const { host, user, password, port = '', database = '' } = fields
  if (!host || !user) throw shardProblem(index, 'host and user are required')
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw shardProblem(index, `port '${port}' is not a port number`)
  const login = encodeURIComponent(user) + (password ? `:${encodeURIComponent(password)}` : '')
  return `postgres://${login}@${host}:${port}/${encodeURIComponent(database)}`
}

const shardProblem = (index: number, reason: string): ProblemError =>
  new ProblemError('invalid', `NOETL_SHARDS entry ${index + 1}: ${reason}`)
