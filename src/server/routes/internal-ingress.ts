/**
 * What a gateway asks before it takes messages for a listener: how to verify senders, and what to start.
 *
 * 1. A listener is the last part of the path at the gateway, as the newest version of a push subscription declares it.
 * 2. The secret leaves in clear: only with the internal token or for an admin, and only once the look is on record.
 */
import type { FastifyInstance } from 'fastify'
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { IngressAnswer } from '../../contract/subscription.ts'
import type { Wallet } from '../../lib/envelope.ts'
import { readDocument } from '../../playbook/document.ts'
import type { Database } from '../../store/database.ts'
import type { Shards } from '../../store/shards.ts'
import type { SubscriptionDocument } from '../../store/subscriptions.ts'
import { listSubscriptionDocuments, registerSubscription } from '../../store/subscriptions.ts'
import type { ServerContext } from '../app.ts'
import { lookUpCredential } from '../credential-lookup.ts'
import { route } from '../route.ts'
import { needWallet } from '../secret-access.ts'

/** Where a message is taken from when the document does not say. */
const PAYLOAD_FROM = 'message.json'
/** Members of a credential that hold its secret, the likeliest first. */
const SECRET_MEMBERS = ['secret', 'token', 'value', 'key', 'password']

export const ingressRoutes = (app: FastifyInstance, { core, wallet }: ServerContext): void => {
  route(
    app,
    {
      method: 'GET',
      url: '/api/internal/ingress/:listener',
      name: 'resolveIngress',
      tag: 'internal',
      access: 'internal',
      summary: 'Read how a gateway takes messages for a listener',
      description:
        'Registers the subscription if need be. The secret to verify senders with is in the answer.',
      answer: IngressAnswer,
      problems: ['not_found', 'invalid'],
    },
    async ({ request }) => {
      const { listener } = request.params as { listener: string }
      const found = await findListener(core.shards.cluster, listener)
      if (!found) throw new ProblemError('not_found', `No push subscription for listener '${listener}'`)
      const { entry, spec, ingress } = found
      const verify = await verification(memberOf(ingress, 'verify'), core.shards, wallet)
      const { subscription_id } = await registerSubscription(core.shards.cluster, {
        subscriptionId: core.nextId(),
        path: entry.path,
        catalogId: entry.catalog_id,
      })
      const directives = memberOf(spec, 'headers')['directives']
      return {
        listener,
        catalog_path: entry.path,
        source: spec['source'],
        subscription_id,
        verify,
        dispatch: dispatchOf(memberOf(spec, 'dispatch')),
        ...(Array.isArray(directives) ? { directives } : {}),
      }
    },
  )
}

interface Found {
  readonly entry: SubscriptionDocument
  readonly spec: JsonObject
  readonly ingress: JsonObject
}

const findListener = async (database: Database, listener: string): Promise<Found | null> => {
  for (const entry of await listSubscriptionDocuments(database)) {
    const result = readDocument(entry.content)
    if (!result.ok) continue
    const spec = memberOf(result.document, 'spec')
    const ingress = memberOf(spec, 'ingress')
    const path = ingress['gateway_path']
    if (spec['mode'] !== 'push' || typeof path !== 'string') continue
    if (path.split('/').findLast((part) => part !== '') === listener) return { entry, spec, ingress }
  }
  return null
}

const memberOf = (value: JsonObject, name: string): JsonObject => {
  const member = value[name]
  return isObject(member) ? member : {}
}

const verification = async (
  { type, header, audience, service_account, secret }: JsonObject,
  shards: Shards,
  wallet: Wallet | undefined,
): Promise<object> => ({
  type,
  ...texts({ header, audience, service_account }),
  ...(typeof secret === 'string' ? { secret: await secretOf(secret, shards, needWallet(wallet)) } : {}),
})

const dispatchOf = ({ playbook, payload_from, execution_pool }: JsonObject): object => ({
  playbook,
  payload_from: PAYLOAD_FROM,
  ...texts({ payload_from, execution_pool }),
})

const texts = (members: Readonly<Record<string, Json | undefined>>): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === 'string'))

/** The value of a credential: a text, or the member that is one. */
const secretOf = async (identifier: string, shards: Shards, wallet: Wallet): Promise<string> => {
  const wanted = { identifier, executionId: null, parentExecutionId: null }
  const credential = await lookUpCredential(shards, wallet, wanted)
  if (!credential) throw new ProblemError('not_found', `Credential '${identifier}' not found`)
  const { data = null } = credential
  if (typeof data === 'string') return data
  const members = isObject(data) ? SECRET_MEMBERS.map((name) => data[name]) : []
  const value = members.find((member) => typeof member === 'string')
  if (value === undefined)
    throw new ProblemError(
      'invalid',
      `Credential '${identifier}' holds no text under ${SECRET_MEMBERS.join(', ')}`,
    )
  return value
}
