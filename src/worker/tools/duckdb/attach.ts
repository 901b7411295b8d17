/**
 * Databases and secrets that `auth` brings to a DuckDB call.
 *
 * 1. A postgres credential is attached as a database under its name (`pg` when it has none); s3, gcs and gcs_hmac ones
 *    become secrets that files of their addresses use.
 * 2. They need extensions of DuckDB. One that cannot be had ends the call with what to do.
 * 3. Attached databases and secrets are seen by whoever shares the file at the same moment, and are gone when its last
 *    call ends: secrets are never written to the file.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { credentialFields, firstGiven, textField } from '../coerce.ts'
import { connectionSettings } from '../postgres/connection-settings.ts'
import type { DuckdbConnection } from './driver.ts'

const NAME = /^[A-Za-z_]\w*$/

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`

interface Attachment {
  readonly name: string
  readonly credential: JsonObject
}

/** Several credentials by name, or one. */
const attachmentsOf = (config: JsonObject): readonly Attachment[] => {
  const found = firstGiven(config, ['auth', 'credential'])
  if (found === null || found.value === '') return []
  if (isObject(found.value) && Object.values(found.value).every(isCredential)) {
    return Object.entries(found.value).map(([name, credential]) => ({
      name,
      credential: credentialFields({ auth: credential }) ?? {},
    }))
  }
  const credential = credentialFields(config)
  if (credential === null) return []
  const name = textField(credential, 'alias', 'db_alias') ?? defaultName(credential)
  return [{ name, credential }]
}

const isCredential = (value: Json): boolean => isObject(value)
const defaultName = (credential: JsonObject): string => (typeOf(credential) === 'postgres' ? 'pg' : 'storage')

const typeOf = (credential: JsonObject): string => (textField(credential, 'type') ?? 'postgres').toLowerCase()

/** The settings of a PostgreSQL server as one text of keywords. */
export const keywordString = async (credential: JsonObject): Promise<string> => {
  const { host, port, user, password, database } = await connectionSettings({ auth: credential })
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  return Object.entries({ host, port: String(port), user, password, dbname: database })
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(' ')
}

const secretStatement = (name: string, type: string, credential: JsonObject): string => {
  const option = (word: string, ...names: readonly string[]): string[] => {
    const text = textField(credential, ...names)
    return text === null ? [] : [`${word} ${quoteText(text)}`]
  }
  const options = [
    `TYPE ${type === 's3' ? 's3' : 'gcs'}`,
    ...option('KEY_ID', 'key_id', 'access_key_id', 'aws_access_key_id'),
    ...option('SECRET', 'secret', 'secret_key', 'secret_access_key', 'aws_secret_access_key'),
    ...option('REGION', 'region'),
    ...option('ENDPOINT', 'endpoint'),
    ...option('SCOPE', 'scope'),
  ]
  return `CREATE OR REPLACE TEMPORARY SECRET ${quoteName(name)} (${options.join(', ')})`
}

const attach = async (connection: DuckdbConnection, { name, credential }: Attachment): Promise<void> => {
  if (!NAME.test(name))
    throw configFailure(`auth has the name ${JSON.stringify(name)}; use letters, digits and _`)
  const type = typeOf(credential)
  if (type === 'postgres') {
    await connection.run('LOAD postgres')
    const target = quoteText(await keywordString(credential))
    await connection.run(`ATTACH IF NOT EXISTS ${target} AS ${quoteName(name)} (TYPE postgres)`)
    return
  }
  if (type === 's3' || type === 'gcs' || type === 'gcs_hmac') {
    await connection.run('LOAD httpfs')
    await connection.run(secretStatement(name, type, credential))
    return
  }
  throw configFailure(
    `auth.${name} is a credential of type ${type}, which DuckDB has no use for; use postgres, s3 or gcs`,
  )
}

export const attachAll = async (connection: DuckdbConnection, config: JsonObject): Promise<void> => {
  for (const attachment of attachmentsOf(config)) await attach(connection, attachment)
}
