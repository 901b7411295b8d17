/**
 * An identity token of Google for a service account: a signed statement of who we are, exchanged for the token.
 *
 * The key comes from the credential in `auth` (the JSON file of the account), or from `service_account_email` and
 * `service_account_private_key`; `target_audience` is who the token is for.
 */
import { createPrivateKey, createSign, type KeyObject } from 'node:crypto'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { configFailure } from '../../tool-failure.ts'
import { textField } from '../../tools/coerce.ts'
import { type FetchedToken, fetchToken, type TokenRequest } from './token-request.ts'

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const LIFETIME_SECONDS = 3_600
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url')

const keyOf = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem.replaceAll('\\n', '\n'))
  } catch {
    throw configFailure('the private key of the service account is not a PEM key')
  }
}

const signedStatement = (claims: JsonObject, pem: string): string => {
  const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`
  const signature = createSign('RSA-SHA256').update(text).sign(keyOf(pem), 'base64url')
  return `${text}.${signature}`
}

/** The account as its JSON file has it; stored as a mapping, as text, or as text in a field. */
const accountOf = (config: JsonObject, credential: Json): JsonObject => {
  const stored = isObject(credential)
    ? (credential['service_account_json'] ?? credential['service_account'] ?? credential)
    : credential
  const account = typeof stored === 'string' ? (parseJson(stored) as Json) : stored
  return { ...(isObject(account) ? account : {}), ...config }
}

/** The templates of `config` are rendered; `credential` is the data of the one it names, or null. */
export const fetchGoogleIdToken = async (
  config: JsonObject,
  credential: Json,
  nowMs: number,
  request: TokenRequest,
): Promise<FetchedToken> => {
  const account = accountOf(config, credential)
  const email = textField(account, 'service_account_email', 'client_email')
  const pem = textField(account, 'service_account_private_key', 'private_key')
  const audience = textField(account, 'target_audience', 'audience')
  if (email === null || pem === null)
    throw configFailure('a service account needs `client_email` and `private_key`')
  if (audience === null) throw configFailure('`target_audience` is missing')
  const endpoint = textField(account, 'token_uri', 'endpoint') ?? TOKEN_URI
  const issuedAt = Math.floor(nowMs / 1000)
  const claims = {
    iss: email,
    aud: endpoint,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
    target_audience: audience,
  }
  return fetchToken(
    {
      endpoint,
      data: { grant_type: GRANT, assertion: signedStatement(claims, pem) },
      map: { token: 'id_token', id_token: 'id_token' },
      ttl: config['ttl'] ?? config['ttl_seconds'] ?? LIFETIME_SECONDS,
    },
    request,
  )
}
