/**
 * Which server a call talks to, and as whom.
 *
 * 1. What the tool block says wins over the credential.
 * 2. A user and password inside the URL count when nothing else names a user or a token; they never stay in the URL,
 *    which is shown in messages.
 */
import type { JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { booleanField, credentialFields, firstGiven, textField, textOf } from '../coerce.ts'

export interface NatsSettings {
  readonly servers: readonly string[]
  readonly user: string | null
  readonly password: string | null
  readonly token: string | null
  /** Text of a credentials file: a JWT and the seed of its key. */
  readonly creds: string | null
  readonly tls: boolean
}

interface Address {
  readonly server: string
  readonly user: string | null
  readonly password: string | null
}

const decoded = (text: string): string | null => (text === '' ? null : decodeURIComponent(text))

const readAddress = (text: string): Address => {
  const written = /^[a-z]+:\/\//i.test(text) ? text : `nats://${text}`
  let url: URL
  try {
    url = new URL(written)
  } catch {
    throw configFailure('url must be an address such as nats://localhost:4222')
  }
  const port = url.port === '' ? '' : `:${url.port}`
  return {
    server: `${url.protocol}//${url.hostname}${port}`,
    user: decoded(url.username),
    password: decoded(url.password),
  }
}

const addressTexts = (config: JsonObject, credential: JsonObject): readonly string[] => {
  const names = ['url', 'servers', 'nats_url', 'server'] as const
  const found = firstGiven(config, names) ?? firstGiven(credential, names)
  if (found === null) return []
  const { value } = found
  const texts = Array.isArray(value)
    ? value.map((item) => textOf(item) ?? '')
    : (textOf(value) ?? '').split(',')
  return texts.map((text) => text.trim()).filter((text) => text !== '')
}

export const natsSettings = (config: JsonObject): NatsSettings => {
  const credential = credentialFields(config) ?? {}
  const addresses = addressTexts(config, credential).map(readAddress)
  const [first] = addresses
  if (first === undefined) {
    throw configFailure('A nats tool needs `url`, such as nats://localhost:4222, or `auth` with one')
  }
  const field = (...names: readonly string[]): string | null =>
    textField(config, ...names) ?? textField(credential, ...names)
  const named = {
    user: field('user', 'username'),
    token: field('token', 'nats_token'),
    creds: field('creds', 'credentials'),
  }
  const isNamed = named.user !== null || named.token !== null || named.creds !== null
  return {
    servers: addresses.map(({ server }) => server),
    ...named,
    user: isNamed ? named.user : first.user,
    password: isNamed ? field('password') : first.password,
    tls: booleanField(config, booleanField(credential, first.server.startsWith('tls:'), 'tls'), 'tls'),
  }
}
