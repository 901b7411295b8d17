/**
 * What tells whether a key is the one that this database was sealed with: a probe kept for the purpose, and samples of
 * what is sealed.
 *
 * 1. There are samples exactly when something is sealed that is kept nowhere else (snapshots are, in the log).
 * 2. Looking is cheap where there is a probe that opens. Only without one are the tables searched, and the log, which no
 *    index helps to search, only when nothing else is sealed.
 */
import type { Database } from './database.ts'

/** An envelope is text; everything else is sealed as bytes. */
export type SealedSample = string | Buffer

const SAMPLES_PER_TABLE = 5

/** The smallest of the newest: a sample has to be read whole. */
const NEWEST_RESULT = `select data as sample from (
  select data from noetl.result order by result_id desc limit 20) newest order by octet_length(data) limit 1`

const QUICK_SEARCHES = [
  `select data_encrypted as sample from noetl.credential order by updated_at desc limit ${SAMPLES_PER_TABLE}`,
  `select data_encrypted as sample from noetl.keychain order by created_at desc limit ${SAMPLES_PER_TABLE}`,
  `select sealed as sample from noetl.variable where sealed is not null limit ${SAMPLES_PER_TABLE}`,
  NEWEST_RESULT,
]

const SEARCH_OF_THE_LOG = `select sealed as sample from noetl.event where sealed is not null limit ${SAMPLES_PER_TABLE}`

export const findSealedSamples = async (database: Database): Promise<readonly SealedSample[]> => {
  const found: SealedSample[] = []
  for (const search of QUICK_SEARCHES) found.push(...(await samplesOf(database, search)))
  return found.length > 0 ? found : samplesOf(database, SEARCH_OF_THE_LOG)
}

const samplesOf = async (database: Database, search: string): Promise<readonly SealedSample[]> => {
  const { rows } = await database.query<{ sample: SealedSample }>(search)
  return rows.map((row) => row.sample)
}

/** Null when none was written yet. */
export const readEncryptionProbe = async (database: Database): Promise<string | null> => {
  const { rows } = await database.query<{ envelope: string }>('select envelope from noetl.encryption_probe')
  return rows[0]?.envelope ?? null
}

export const writeEncryptionProbe = async (database: Database, envelope: string): Promise<void> => {
  await database.query(
    `insert into noetl.encryption_probe (envelope) values ($1)
     on conflict (is_only) do update set envelope = excluded.envelope, written_at = now()`,
    [envelope],
  )
}
