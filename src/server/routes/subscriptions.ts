/** Listeners that start executions when messages arrive: the runtime that listens tells here how it stands. */
import type { FastifyInstance } from 'fastify'
import {
  SUBSCRIPTION_MOVES,
  SubscriptionAnswer,
  SubscriptionListAnswer,
  SubscriptionRequest,
} from '../../contract/subscription.ts'
import { ProblemError } from '../../contract/problem.ts'
import { findCatalogEntry } from '../../store/catalog.ts'
import {
  listSubscriptions,
  moveSubscription,
  readSubscription,
  registerSubscription,
} from '../../store/subscriptions.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'

const tag = 'subscriptions'

const notFound = (id: string): ProblemError => new ProblemError('not_found', `Subscription not found: ${id}`)

export const subscriptionRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  for (const url of ['/api/subscriptions/register', '/api/subscriptions']) {
    route(
      app,
      {
        method: 'POST',
        url,
        name: url.endsWith('register') ? 'registerSubscription' : 'createSubscription',
        tag,
        access: 'run',
        summary: 'Register the subscription of a path',
        description: 'Repeating it answers the same subscription until it is deactivated.',
        body: SubscriptionRequest,
        answer: SubscriptionAnswer,
        problems: ['not_found'],
      },
      async ({ body: { path } }) => {
        const entry = await findCatalogEntry(cluster, path, null)
        if (!entry) throw new ProblemError('not_found', `Catalog entry '${path}' not found`)
        if (entry.kind !== 'subscription')
          throw new ProblemError('invalid', `'${path}' is a ${entry.kind}, not a subscription`)
        return registerSubscription(cluster, {
          subscriptionId: core.nextId(),
          path,
          catalogId: entry.catalog_id,
        })
      },
    )
  }

  route(
    app,
    {
      method: 'GET',
      url: '/api/subscriptions',
      name: 'listSubscriptions',
      tag,
      access: 'viewer',
      summary: 'List subscriptions',
      answer: SubscriptionListAnswer,
    },
    async () => ({ subscriptions: await listSubscriptions(cluster) }),
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/subscriptions/:subscription_id',
      name: 'getSubscription',
      tag,
      access: 'viewer',
      summary: 'Read a subscription',
      answer: SubscriptionAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const id = pathId(request, 'subscription_id')
      const row = await readSubscription(cluster, id)
      if (!row) throw notFound(id)
      return row
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/subscriptions/:subscription_id/:action',
      name: 'moveSubscription',
      tag,
      access: 'run',
      summary: 'Activate, pause, resume, drain or deactivate a subscription',
      answer: SubscriptionAnswer,
      problems: ['not_found', 'invalid', 'conflict'],
    },
    async ({ request }) => {
      const id = pathId(request, 'subscription_id')
      const { action } = request.params as { action: string }
      const move = Object.hasOwn(SUBSCRIPTION_MOVES, action) ? SUBSCRIPTION_MOVES[action] : undefined
      if (!move)
        throw new ProblemError(
          'invalid',
          `Unknown action '${action}'; there are ${Object.keys(SUBSCRIPTION_MOVES).join(', ')}`,
        )
      const moved = await moveSubscription(cluster, id, move)
      if (moved) return moved
      const row = await readSubscription(cluster, id)
      if (!row) throw notFound(id)
      if (move.from.includes(row.state))
        throw new ProblemError('conflict', `Another subscription of '${row.path}' is alive; use that one`)
      throw new ProblemError('invalid', `Cannot ${action} a subscription in state ${row.state}`)
    },
  )
}
