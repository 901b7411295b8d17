/** Secrets kept for a playbook until they expire. Reading always answers 200; `status` says what was found. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  KeychainDeletedAnswer,
  KeychainEntryAnswer,
  KeychainListAnswer,
  KeychainSetAnswer,
} from '../../contract/answers-secrets.ts'
import { nameText } from '../../contract/api-body.ts'
import type { KeychainQuery as Where } from '../../contract/api-secrets.ts'
import { KeychainQuery, KeychainSetRequest } from '../../contract/api-secrets.ts'
import type { Json } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { exactJson, parseJson, rawInteger } from '../../lib/exact-json.ts'
import type { Wallet } from '../../lib/envelope.ts'
import type { KeychainPlace, KeychainRow } from '../../store/keychain.ts'
import {
  accessKeychain,
  cacheKeyOf,
  deleteKeychainEntry,
  listKeychain,
  upsertKeychainEntry,
} from '../../store/keychain.ts'
import type { ServerContext } from '../app.ts'
import { check, pathId } from '../http.ts'
import { route } from '../route.ts'
import { maySeeSecrets, needWallet, openEnvelope, refuseSecrets } from '../secret-access.ts'

const ENTRY = '/api/keychain/:catalog_id/:keychain_name'
const tag = 'keychain'
const HOUR_S = 3600
const DAY_S = 86_400

export const keychainRoutes = (app: FastifyInstance, { core, wallet }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'GET',
      url: '/api/keychain/catalog/:catalog_id',
      name: 'listKeychain',
      tag,
      access: 'viewer',
      summary: 'List the entries of a playbook without their data',
      answer: KeychainListAnswer,
    },
    async ({ request }) => {
      const catalogId = pathId(request, 'catalog_id')
      const rows = await listKeychain(cluster, catalogId)
      return { status: 'success', catalog_id: catalogId, entries: rows.map(listItem), count: rows.length }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: ENTRY,
      name: 'getKeychainEntry',
      tag,
      access: 'worker',
      summary: 'Read an entry',
      description: 'The answer is 200 also when there is none or when it expired; `status` says so.',
      query: KeychainQuery,
      answer: KeychainEntryAnswer,
    },
    async ({ request, reply, query }) => {
      const place = placeOf(request, query)
      if (!maySeeSecrets(request)) return refuseSecrets(reply)
      const row = await accessKeychain(cluster, [cacheKeyOf(place)])
      if (!row) return { status: 'not_found', ...names(place), auto_renew: false, expired: false }
      return entryAnswer(row, needWallet(wallet))
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: ENTRY,
      name: 'putKeychainEntry',
      tag,
      access: 'run',
      summary: 'Keep a secret for a playbook until it expires',
      body: KeychainSetRequest,
      answer: KeychainSetAnswer,
      problems: ['not_found'],
    },
    async ({ request, body: entry }) => {
      const catalogId = pathId(request, 'catalog_id')
      const name = check(nameText, nameOf(request))
      const seal = (value: Json): string => needWallet(wallet).seal(exactJson(value))
      const row = await upsertKeychainEntry(cluster, {
        name,
        catalogId,
        scope: entry.scope_type,
        executionId: entry.execution_id ?? null,
        parentExecutionId: entry.parent_execution_id ?? null,
        credentialType: entry.credential_type ?? null,
        cacheType: entry.cache_type,
        dataEncrypted: seal(entry.data),
        renewConfigEncrypted: entry.renew_config ? seal(entry.renew_config) : null,
        autoRenew: entry.auto_renew,
        expiresAt: entry.expires_at ? toInstant(entry.expires_at) : null,
        expiresInSeconds: entry.expires_in ?? (entry.scope_type === 'local' ? HOUR_S : DAY_S),
      })
      if (!row) throw new ProblemError('not_found', `Catalog entry not found: ${catalogId}`)
      const ttl = Math.round(row.ttl_seconds)
      return {
        status: 'success',
        message: `Keychain entry cached successfully with ${ttl}s TTL`,
        keychain_name: name,
        catalog_id: rawInteger(catalogId),
        cache_key: row.cache_key,
        expires_at: row.expires_at,
        ttl_seconds: ttl,
        auto_renew: row.auto_renew,
      }
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: ENTRY,
      name: 'deleteKeychainEntry',
      tag,
      access: 'run',
      summary: 'Delete an entry',
      description: 'The answer is 200 also when there was none; `status` says so.',
      query: KeychainQuery,
      answer: KeychainDeletedAnswer,
    },
    async ({ request, query }) => {
      const place = placeOf(request, query)
      const deleted = await deleteKeychainEntry(cluster, cacheKeyOf(place))
      return deleted
        ? { status: 'deleted', message: 'Keychain entry deleted successfully', ...names(place) }
        : { status: 'not_found', message: 'Keychain entry not found', ...names(place) }
    },
  )
}

const nameOf = (request: FastifyRequest): string =>
  (request.params as { keychain_name: string }).keychain_name

const placeOf = (request: FastifyRequest, { execution_id, scope_type }: Where): KeychainPlace => ({
  name: nameOf(request),
  catalogId: pathId(request, 'catalog_id'),
  scope: scope_type,
  executionId: execution_id ?? null,
})

const names = (place: KeychainPlace) => ({
  keychain_name: place.name,
  catalog_id: rawInteger(place.catalogId),
  cache_key: cacheKeyOf(place),
})

/** Years of four digits: what the database and JavaScript write in the same way. */
const FIRST_INSTANT = Date.UTC(1970, 0, 1)
const LAST_INSTANT = Date.UTC(9999, 11, 31)

/** Without an offset it is UTC. */
const toInstant = (text: string): string => {
  const at = new Date(/(?:[zZ]|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`)
  if (!(at.getTime() >= FIRST_INSTANT && at.getTime() <= LAST_INSTANT)) {
    throw new ProblemError('invalid', `expires_at: '${text}' is not a time between the years 1970 and 9999`)
  }
  return at.toISOString()
}

/** How to renew an entry is told also when it expired; its data only while it lives. */
const entryAnswer = (row: KeychainRow, wallet: Wallet) => {
  const opened = (envelope: string): Json =>
    parseJson(openEnvelope(wallet, envelope, `Keychain entry '${row.keychain_name}'`)) as Json
  const data = row.expired ? undefined : opened(row.data_encrypted)
  return {
    status: row.expired ? 'expired' : 'found',
    keychain_name: row.keychain_name,
    catalog_id: rawInteger(row.catalog_id),
    cache_key: row.cache_key,
    ...(data === undefined ? {} : { data, token_data: data }),
    ...(row.credential_type === null ? {} : { credential_type: row.credential_type }),
    cache_type: row.cache_type,
    scope_type: row.scope_type,
    expires_at: row.expires_at,
    ttl_seconds: row.ttl_seconds,
    ...(row.accessed_at === null ? {} : { accessed_at: row.accessed_at }),
    access_count: row.access_count,
    auto_renew: row.auto_renew,
    ...(row.renew_config_encrypted === null ? {} : { renew_config: opened(row.renew_config_encrypted) }),
    expired: row.expired,
  }
}

const listItem = (row: KeychainRow) => ({
  keychain_name: row.keychain_name,
  cache_key: row.cache_key,
  ...(row.credential_type === null ? {} : { credential_type: row.credential_type }),
  cache_type: row.cache_type,
  scope_type: row.scope_type,
  ...(row.execution_id === null ? {} : { execution_id: row.execution_id }),
  expires_at: row.expires_at,
  expired: row.expired,
  auto_renew: row.auto_renew,
  access_count: row.access_count,
  ...(row.accessed_at === null ? {} : { accessed_at: row.accessed_at }),
  created_at: row.created_at,
})
