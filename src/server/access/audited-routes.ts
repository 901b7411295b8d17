/**
 * What is put on record about requests, by route. Changes of executions are not here: their own log tells who made them.
 * Only names and numbers are taken from requests and answers, never whole bodies.
 */
import type { FastifyRequest } from 'fastify'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'

export interface Facts {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: JsonObject
  readonly answer: JsonObject
}

export interface Audited {
  readonly action: string
  /** A look at a secret: on record before the secret leaves, whatever comes of it. */
  readonly isLook?: true
  readonly target?: (facts: Facts) => Json | undefined
  readonly details?: (facts: Facts) => JsonObject
  /** Only such requests. */
  readonly when?: (request: FastifyRequest) => boolean
}

const asks = (name: string) => (request: FastifyRequest) => {
  const value = (request.query as Record<string, unknown>)[name]
  return typeof value === 'string' && !['', 'false', '0', 'no', 'off'].includes(value.toLowerCase())
}

const keychainEntry: Pick<Audited, 'target' | 'details'> = {
  target: ({ params }) => params['keychain_name'],
  details: ({ params, query, body }) => ({
    catalog_id: params['catalog_id'] ?? null,
    ...pick({ ...body, ...(query as JsonObject) }, ['scope_type']),
  }),
}

const credential: Pick<Audited, 'target'> = { target: ({ params }) => params['identifier'] }

const versions: Pick<Audited, 'target' | 'details'> = {
  target: ({ body }) => body['path'],
  details: ({ body }) => pick(body, ['version']),
}

/** The named members that are plain values. */
const pick = (source: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = source[name]
      return value === undefined || (typeof value === 'object' && value !== null) ? [] : [[name, value]]
    }),
  )

const AUDITED: Readonly<Record<string, Audited>> = {
  'GET /api/credentials/:identifier': {
    ...credential,
    action: 'credential.read',
    isLook: true,
    when: asks('include_data'),
  },
  'GET /api/credentials/:identifier/sealed': { ...credential, action: 'credential.seal', isLook: true },
  'POST /api/credentials': {
    action: 'credential.write',
    target: ({ body }) => body['name'],
    details: ({ answer }) => pick(answer, ['id', 'type']),
  },
  'DELETE /api/credentials/:identifier': { ...credential, action: 'credential.delete' },
  'GET /api/keychain/:catalog_id/:keychain_name': { ...keychainEntry, action: 'keychain.read', isLook: true },
  'GET /api/executions/:execution_id/keychain/:keychain_name/recipe': {
    action: 'keychain.recipe',
    isLook: true,
    target: ({ params }) => params['keychain_name'],
  },
  'GET /api/internal/ingress/:listener': {
    action: 'ingress.read',
    isLook: true,
    target: ({ params }) => params['listener'],
  },
  'POST /api/keychain/:catalog_id/:keychain_name': { ...keychainEntry, action: 'keychain.write' },
  'DELETE /api/keychain/:catalog_id/:keychain_name': { ...keychainEntry, action: 'keychain.delete' },
  'GET /api/vars/:execution_id': { action: 'variables.read', isLook: true, when: asks('include_data') },
  'GET /api/executions/:execution_id/result': {
    action: 'result.read',
    isLook: true,
    target: ({ query }) => (typeof query['step'] === 'string' ? query['step'] : undefined),
    // Workers ask for it as part of their work.
    when: (request) => asks('include_secrets')(request) && request.caller?.role !== 'worker',
  },
  'POST /api/catalog/register': {
    action: 'catalog.register',
    target: ({ answer }) => answer['path'],
    details: ({ answer }) => pick(answer, ['catalog_id', 'version', 'kind']),
  },
  'POST /api/catalog/delete': { ...versions, action: 'catalog.delete' },
  'POST /api/catalog/restore': { ...versions, action: 'catalog.restore' },
  'DELETE /api/catalog/playbooks/*': { action: 'catalog.delete', target: ({ params }) => params['*'] },
  'POST /api/executions/import': {
    action: 'execution.import',
    target: ({ answer }) => answer['execution_id'],
    details: ({ answer }) => pick(answer, ['resumed_as']),
  },
  'POST /api/tokens': {
    action: 'token.create',
    target: ({ body }) => body['name'],
    details: ({ answer }) => pick(answer, ['id', 'role', 'expires_at']),
  },
  'DELETE /api/tokens/:id': {
    action: 'token.revoke',
    target: ({ answer, params }) => answer['name'] ?? params['id'],
    details: ({ params }) => ({ id: params['id'] ?? null }),
  },
  'POST /api/internal/wallet/rotate-kek': {
    action: 'wallet.rotate',
    details: ({ answer }) => ({
      credential: counts(answer['credential']),
      keychain: counts(answer['keychain']),
    }),
  },
  'POST /api/internal/cleanup/purge': {
    action: 'storage.purge',
    details: ({ answer }) => pick(answer, ['commands_purged', 'runtime_purged', 'events_purged']),
  },
}

export const AUDITED_ROUTES = Object.keys(AUDITED)

const counts = (value: Json | undefined): JsonObject =>
  isObject(value) ? pick(value, ['processed', 'rewrapped', 'skipped', 'failed']) : {}

/** Below these the log of the execution tells who did what. */
const TOLD_BY_THE_LOG = /^\/api\/(?:execute|executions|vars|events|commands|result|temp|worker)(?:\/|$)/

/** What to record about a request; null for nothing. Changes that nobody listed are recorded by the names of their route. */
export const auditedOf = (request: FastifyRequest): Audited | null => {
  const { method } = request
  const { url = '', config } = request.routeOptions
  const listed = AUDITED[`${method} ${url}`]
  if (listed) return listed.when === undefined || listed.when(request) ? listed : null
  const { spec } = config
  if (spec === undefined || method === 'GET' || method === 'HEAD' || TOLD_BY_THE_LOG.test(url)) return null
  if (spec.access !== 'operator' && spec.access !== 'admin') return null
  return {
    action: `${spec.tag}.${spec.name ?? method.toLowerCase()}`,
    target: ({ params }) => Object.values(params).join('/') || undefined,
  }
}
