/**
 * Secrets of HashiCorp Vault, key/value engine version 2, by its HTTP API.
 *
 * 1. A path is written as on its command line (`secret/shop/db`) or as its API has it (`secret/data/shop/db`); what stands
 *    before the first slash is the mount, unless `mount` says otherwise. `#field` at the end means one field.
 * 2. Address, token and namespace come from the credential of whoever asks, else from `VAULT_ADDR`, `VAULT_TOKEN` and
 *    `VAULT_NAMESPACE` of the worker.
 * 3. Without a field, a secret with the single field `value` is that value, any other one is all of its fields.
 */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { parseJson } from '../../../lib/exact-json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import { textField } from '../../tools/coerce.ts'
import { statusError, transportFailure } from '../../tools/http/http-error.ts'
import type { OutboundFetch } from '../../tools/http/outbound-fetch.ts'
import type { VaultSettings } from '../secret-settings.ts'
import { type SecretProvider, secretNotFound } from './secret-provider.ts'

const LIMIT_MS = 10_000

interface Place {
  readonly mount: string
  readonly path: string
  readonly field: string | null
}

const placeOf = (written: string, options: JsonObject): Place => {
  const [whole = '', named] = written.split('#', 2)
  const mountOption = textField(options, 'mount')
  const parts = whole.split('/').filter((part) => part !== '')
  const mount = mountOption ?? parts.shift() ?? ''
  if (parts[0] === 'data' && parts.length > 1) parts.shift()
  if (mount === '' || parts.length === 0) {
    throw configFailure(`A path in Vault has a mount and a name, such as secret/shop/db, not "${written}"`)
  }
  return { mount, path: parts.map(encodeURIComponent).join('/'), field: named ?? textField(options, 'field') }
}

const chosen = (data: JsonObject, { field }: Place, written: string): Json => {
  const names = Object.keys(data)
  if (field !== null) {
    if (Object.hasOwn(data, field)) return data[field] ?? null
    throw secretNotFound(`The secret ${written} has no field '${field}'. It has: ${names.join(', ')}.`)
  }
  return names.length === 1 && names[0] === 'value' ? (data['value'] ?? null) : data
}

interface Server {
  readonly address: string
  readonly isTrusted: boolean
  readonly headers: Record<string, string>
}

const serverOf = (options: JsonObject, settings: VaultSettings): Server => {
  const credential = isObject(options['auth']) ? options['auth'] : {}
  const own = textField(credential, 'address', 'url', 'vault_addr')
  const address = own ?? settings.address
  const token = textField(credential, 'token', 'vault_token') ?? settings.token
  if (address === null || token === null) {
    throw configFailure(
      'To read from Vault, set VAULT_ADDR and VAULT_TOKEN for the worker, or name a credential with `address` and `token` in `auth`',
    )
  }
  const namespace = textField(credential, 'namespace') ?? settings.namespace
  return {
    address: address.replace(/\/+$/, ''),
    isTrusted: own === null,
    headers: {
      'x-vault-token': token,
      'x-vault-request': 'true',
      ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
    },
  }
}

export const createVaultProvider =
  (settings: VaultSettings, fetch: OutboundFetch): SecretProvider =>
  async ({ path: written, options, signal }) => {
    const place = placeOf(written, options)
    const { address, isTrusted, headers } = serverOf(options, settings)
    const version = textField(options, 'version')
    const query = version === null ? '' : `?version=${encodeURIComponent(version)}`
    const where = `Vault at ${address}`
    let response: Response
    let text: string
    try {
      response = await fetch(`${address}/v1/${place.mount}/data/${place.path}${query}`, {
        headers,
        isTrusted,
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]),
      })
      text = await response.text()
    } catch (error) {
      signal.throwIfAborted()
      throw transportFailure(error instanceof TypeError ? (error.cause ?? error) : error, where)
    }
    if (response.status === 404) throw secretNotFound(`Vault has no secret ${place.mount}/${place.path}`)
    if (!response.ok) {
      throw new ToolFailure(
        statusError(response.status, response.headers.get('retry-after') ?? undefined, where, Date.now()),
      )
    }
    return chosen(fieldsIn(text, where), place, `${place.mount}/${place.path}`)
  }

const fieldsIn = (text: string, where: string): JsonObject => {
  try {
    const answer = parseJson(text) as Json
    const outer = isObject(answer) ? answer['data'] : null
    const inner = isObject(outer) ? outer['data'] : null
    if (isObject(inner)) return inner
  } catch {
    // Said below, without the text: it may be half of a secret.
  }
  throw new ToolFailure({
    kind: 'parse',
    code: 'SECRET_MALFORMED',
    message: `${where} gave an answer that is not of its key/value engine version 2`,
    retryable: false,
  })
}
