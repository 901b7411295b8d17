/** Settings about who may use a server and how connections are protected, from the environment. */
import { ProblemError } from '../contract/problem.ts'
import type { AuthMode } from '../server/access/door.ts'
import { AUTH_MODES } from '../server/access/door.ts'
import type { Env } from './settings.ts'

export interface AccessSettings {
  readonly auth: AuthMode
  /** An admin's token that is not in the database. */
  readonly adminToken: string | null
  /** Origins whose pages may use the API; `*` for all. */
  readonly corsOrigins: readonly string[]
  /** Proxies in front, separated by commas. */
  readonly trustedProxies: string | null
  /** Files; null for plain connections. */
  readonly tls: TlsFiles | null
  /** How long it is kept who did what. */
  readonly auditDays: number
}

export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** Issuers of the certificates that clients must have; null when they need none. */
  readonly clientCa: string | null
}

/** Shorter ones can be guessed. */
const MIN_ADMIN_TOKEN = 24
const AUDIT_DAYS = 365

export const readAccessSettings = (env: Env): AccessSettings => {
  const auth = readAuth(env['NOETL_AUTH'])
  return {
    auth,
    adminToken: readAdminToken(env['NOETL_ADMIN_TOKEN']),
    corsOrigins: readOrigins(env['NOETL_CORS_ORIGINS'], auth),
    trustedProxies: env['NOETL_TRUSTED_PROXIES']?.trim() || null,
    tls: readTls(env),
    auditDays: readDays(env['NOETL_AUDIT_DAYS']),
  }
}

const readAuth = (text: string | undefined): AuthMode => {
  if (text === undefined || text === '') return 'auto'
  const mode = AUTH_MODES.find((each) => each === text.trim().toLowerCase())
  if (mode) return mode
  throw new ProblemError('invalid', `NOETL_AUTH must be one of ${AUTH_MODES.join(', ')}, got '${text}'`)
}

const readAdminToken = (text: string | undefined): string | null => {
  const token = text?.trim() ?? ''
  if (token === '') return null
  if (token.length >= MIN_ADMIN_TOKEN && /^[\u0021-\u007e]+$/.test(token)) return token
  throw new ProblemError(
    'invalid',
    `NOETL_ADMIN_TOKEN must have at least ${MIN_ADMIN_TOKEN} characters, without blanks; make one with: openssl rand -hex 32`,
  )
}

const readOrigins = (text: string | undefined, auth: AuthMode): readonly string[] => {
  const origins = (text ?? '')
    .split(',')
    .map((origin) => origin.trim().toLowerCase().replace(/\/$/, ''))
    .filter((origin) => origin !== '')
  const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin))
  if (wrong !== undefined)
    throw new ProblemError(
      'invalid',
      `NOETL_CORS_ORIGINS: '${wrong}' is not an origin; write it like https://noetl.example.com`,
    )
  if (origins.includes('*') && auth !== 'required')
    throw new ProblemError(
      'invalid',
      'NOETL_CORS_ORIGINS=* would let every page on the web use an open server; say NOETL_AUTH=required with it, or list the origins',
    )
  return origins
}

const isOrigin = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && ['http:', 'https:'].includes(url.protocol) && url.origin === text
}

const readTls = (env: Env): TlsFiles | null => {
  const [cert = '', key = '', clientCa = ''] = ['NOETL_TLS_CERT', 'NOETL_TLS_KEY', 'NOETL_TLS_CLIENT_CA'].map(
    (name) => env[name]?.trim() ?? '',
  )
  if (cert === '' && key === '') {
    if (clientCa === '') return null
    throw new ProblemError('invalid', 'NOETL_TLS_CLIENT_CA needs NOETL_TLS_CERT and NOETL_TLS_KEY, too')
  }
  if (cert === '' || key === '')
    throw new ProblemError(
      'invalid',
      `NOETL_TLS_CERT and NOETL_TLS_KEY belong together; ${cert === '' ? 'NOETL_TLS_CERT' : 'NOETL_TLS_KEY'} is not set`,
    )
  return { cert, key, clientCa: clientCa === '' ? null : clientCa }
}

const readDays = (text: string | undefined): number => {
  const days = text === undefined || text === '' ? AUDIT_DAYS : Number(text)
  if (Number.isInteger(days) && days >= 1 && days <= 36_500) return days
  throw new ProblemError(
    'invalid',
    `NOETL_AUDIT_DAYS must be a whole number from 1 to 36500, got '${text ?? ''}'`,
  )
}
