/**
 * A stored credential as the tools expect it: one flat mapping with its type and the fields by their plain names.
 *
 * 1. Of several spellings of a field the first one given counts; the others are dropped.
 * 2. A credential without a telling type keeps its fields, and the tool goes by those.
 * 3. Fields that are not known here are passed on: the tool may know them.
 */
import type { Credential } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { credentialMalformed } from './credential-failure.ts'

/** Types that only say how the credential is kept. */
const UNTYPED: ReadonlySet<string> = new Set(['', 'generic', 'keychain', 'secret', 'credential'])

const SYNONYMS: Readonly<Record<string, string>> = {
  postgresql: 'postgres',
  pg: 'postgres',
  apikey: 'api_key',
  httpbearerauth: 'bearer',
  httpbasicauth: 'basic',
  httpheaderauth: 'api_key',
}

const SPELLINGS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  postgres: {
    host: ['db_host', 'host'],
    port: ['db_port', 'port'],
    user: ['db_user', 'user', 'username'],
    password: ['db_password', 'password'],
    database: ['db_name', 'database', 'dbname'],
    schema: ['db_schema', 'schema'],
  },
  bearer: { token: ['token', 'access_token', 'bearer_token'] },
  api_key: { api_key: ['api_key', 'key', 'token', 'value'], header: ['header', 'header_name', 'name'] },
  basic: { username: ['username', 'user'], password: ['password', 'db_password'] },
}

/** Types whose fields may carry the type in their names. */
const PREFIXES: Readonly<Record<string, string>> = {
  snowflake: 'sf_',
  nats: 'nats_',
  pubsub: 'pubsub_',
  kafka: 'kafka_',
}

/** What a credential that is nothing but a text means. */
const TEXT_FIELD: Readonly<Record<string, string>> = {
  bearer: 'token',
  api_key: 'api_key',
  postgres: 'connection_string',
}

/** Without any of these a credential is of no use to the kind, and falling back to defaults would be a surprise. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  postgres: [
    'host',
    'db_host',
    'user',
    'username',
    'db_user',
    'password',
    'db_password',
    'database',
    'dbname',
    'db_name',
    'connection_string',
    'dsn',
    'url',
    'uri',
    'database_url',
    'connection',
  ],
}

export const credentialAsFields = (alias: string, { type, data }: Credential, kind: string): JsonObject => {
  const known = canonicalType(type)
  const given = typeof data === 'string' ? textAsFields(known, data) : data
  if (!isObject(given)) throw credentialMalformed(alias, type, 'holds no mapping of fields')
  const fields = withoutPrefix(withOneSpelling(given, SPELLINGS[known] ?? {}), PREFIXES[known])
  const needed = NEEDED[kind]
  if (needed !== undefined && !needed.some((field) => isGiven(fields[field]))) {
    throw credentialMalformed(alias, type, `has nothing that a tool of kind ${kind} can use`)
  }
  return UNTYPED.has(known) ? fields : { ...fields, type: known }
}

const canonicalType = (type: string): string => {
  const word = type.trim().toLowerCase()
  return Object.hasOwn(SYNONYMS, word) ? (SYNONYMS[word] ?? word) : word
}

const isGiven = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== ''

const textAsFields = (type: string, text: string): Json => {
  const field = TEXT_FIELD[type]
  return field === undefined ? null : { [field]: text }
}

const withOneSpelling = (
  data: JsonObject,
  spellings: Readonly<Record<string, readonly string[]>>,
): JsonObject => {
  const fields: Record<string, Json> = { ...data }
  for (const [name, names] of Object.entries(spellings)) {
    const found = names.find((each) => isGiven(data[each]))
    if (found === undefined) continue
    for (const each of names) delete fields[each]
    fields[name] = data[found] ?? null
  }
  return fields
}

const withoutPrefix = (data: JsonObject, prefix: string | undefined): JsonObject => {
  if (prefix === undefined) return data
  const short = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name)
  // A field that has the plain name already wins.
  return {
    ...Object.fromEntries(Object.entries(data).map(([name, value]) => [short(name), value])),
    ...plainOf(data, prefix),
  }
}

const plainOf = (data: JsonObject, prefix: string): JsonObject =>
  Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith(prefix)))
