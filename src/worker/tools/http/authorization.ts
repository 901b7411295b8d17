/**
 * Turns the credential of a call into headers.
 *
 * 1. A header that the call sets itself wins over the one of the credential.
 * 2. The names of the headers that carry secrets are known afterwards, so that a redirect to a stranger can drop them.
 */
import type { JsonObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { textField } from '../coerce.ts'
import type { HeaderList } from './header-list.ts'

const BEARER: ReadonlySet<string> = new Set([
  'bearer',
  'httpbearerauth',
  'http_bearer',
  'oauth',
  'oauth2',
  'token',
])
const BASIC: ReadonlySet<string> = new Set(['basic', 'httpbasicauth', 'http_basic'])
const API_KEY: ReadonlySet<string> = new Set(['api_key', 'apikey', 'header', 'httpheaderauth'])

const TOKEN_FIELDS = ['token', 'access_token', 'bearer_token', 'credential'] as const
const KEY_FIELDS = ['api_key', 'key', 'value', 'token', 'credential'] as const

const missing = (type: string, fields: string): never => {
  throw new ToolFailure({
    kind: 'auth',
    code: 'CREDENTIAL_INCOMPLETE',
    message: `A credential of type ${type} needs ${fields}`,
    retryable: false,
  })
}

/** The type a mapping without `type` must have, by the fields it has. */
const impliedType = (auth: JsonObject): string => {
  if (textField(auth, 'username', 'user') !== null) return 'basic'
  if (textField(auth, 'api_key', 'key') !== null) return 'api_key'
  return 'bearer'
}

export const basicHeader = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const headerOf = (auth: JsonObject): [string, string] | null => {
  const declared = textField(auth, 'type')
  const type = (declared ?? impliedType(auth)).toLowerCase()
  if (type === 'none') return null
  if (BEARER.has(type)) {
    const token = textField(auth, ...TOKEN_FIELDS) ?? missing(type, '`token`')
    return ['Authorization', `Bearer ${token}`]
  }
  if (BASIC.has(type)) {
    const user = textField(auth, 'username', 'user') ?? missing(type, '`username` and `password`')
    return ['Authorization', basicHeader(user, textField(auth, 'password', 'db_password') ?? '')]
  }
  if (API_KEY.has(type)) {
    const key = textField(auth, ...KEY_FIELDS) ?? missing(type, '`api_key`')
    return [textField(auth, 'header', 'header_name') ?? 'X-API-Key', key]
  }
  throw configFailure(`http has no auth of type "${declared}". It has: bearer, basic, api_key, none.`)
}

/** Sets the credential's header; answers the names of headers that must not travel to another origin. */
export const authorize = (headers: HeaderList, auth: JsonObject | null): readonly string[] => {
  const secret = ['authorization', 'proxy-authorization', 'cookie']
  const header = auth === null ? null : headerOf(auth)
  if (header === null) return secret
  headers.setDefault(header[0], header[1])
  return [...secret, header[0].toLowerCase()]
}
