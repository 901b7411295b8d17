/**
 * Which texts give a credential away: its values, and the forms in which they travel.
 *
 * 1. Every text in the data counts, at any depth, from six characters on: shorter ones are found everywhere by chance. Numbers
 *    count where their name tells that they are secret: others are ids and times.
 * 2. Fields that say where or how to connect are no secrets: masking the name of a host or of a database would damage
 *    innocent data, such as the links of an API. Nor is a user's name where there is a password to prove it.
 * 3. A password inside of an address is a secret of its own.
 * 4. Base64 is found wherever the secret stands in what was encoded, such as after the user in a Basic header.
 */
import type { Json } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { isSensitiveKey } from '../../contract/sensitive.ts'

const SHORTEST = 6

const PUBLIC_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'host',
  'hostaddr',
  'hostname',
  'db_host',
  'port',
  'db_port',
  'database',
  'dbname',
  'db_name',
  'schema',
  'db_schema',
  'sslmode',
  'ssl_mode',
  'header',
  'header_name',
  'region',
  'token_type',
  'scope',
  'token_uri',
])
const USER_FIELDS: ReadonlySet<string> = new Set(['user', 'username', 'db_user'])
const PASSWORD_FIELDS = ['password', 'db_password'] as const

/** Addresses that everybody may know, with their path; others may carry a secret in it, as those of webhooks do. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set([
  'base_url',
  'api_url',
  'server_url',
  'endpoint',
  'token_url',
  'auth_url',
  'issuer',
  'audience',
])

const saysWhere = (name: string, text: string): boolean => {
  const url = text.includes('://') ? URL.parse(text) : null
  if (url === null || url.host === '') return false
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return false
  return url.pathname === '' || url.pathname === '/' || ADDRESS_FIELDS.has(name)
}

const isSecretNumber = (name: string): boolean =>
  isSensitiveKey(name) || /(?:^|_)(?:pin|passcode)$/i.test(name)

/** The texts of a credential that must not be shown. */
export const secretTexts = (data: Json): readonly string[] => {
  const found = new Set<string>()
  const add = (text: string): void => {
    for (const each of [text, text.trim(), passwordIn(text)]) {
      if (each !== null && each.length >= SHORTEST) found.add(each)
    }
  }
  const visit = (value: Json): void => {
    if (typeof value === 'string') add(value)
    else if (Array.isArray(value)) (value as readonly Json[]).forEach(visit)
    else if (isObject(value)) {
      const hasPassword = PASSWORD_FIELDS.some(
        (field) => typeof value[field] === 'string' && value[field] !== '',
      )
      for (const [name, item] of Object.entries(value)) {
        const isPublic =
          PUBLIC_FIELDS.has(name) ||
          (hasPassword && USER_FIELDS.has(name)) ||
          (typeof item === 'string' && saysWhere(name, item))
        // A password of digits alone is a number to YAML and JSON.
        if (typeof item === 'number' && isSecretNumber(name)) add(String(item))
        else if (!isPublic || typeof item !== 'string') visit(item)
      }
    }
  }
  visit(data)
  return [...found]
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i

const passwordIn = (text: string): string | null => {
  const password = ADDRESS.test(text) ? (URL.parse(text)?.password ?? '') : ''
  if (password === '') return null
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}

/** The text itself and how it looks in JSON, in addresses and in base64. */
export const secretForms = (text: string): readonly string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  ...addressForms(text),
  ...base64Forms(text),
]

const addressForms = (text: string): readonly string[] => {
  // encodeURIComponent refuses halves of characters.
  const encoded = encodeURIComponent(text.toWellFormed())
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
  return [
    encoded,
    lower,
    encoded.replaceAll('%2F', '/'),
    new URLSearchParams({ '': text }).toString().slice(1),
  ]
}

/** Three bytes become four letters, so where the secret begins decides about all of them. */
const base64Forms = (text: string): readonly string[] => {
  const bytes = Buffer.from(text)
  const whole = bytes.toString('base64').replace(/=+$/, '')
  const inside = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Only letters that the secret alone decides.
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  const standard = [whole, ...inside]
  return [...standard, ...standard.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}
