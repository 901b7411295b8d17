/** The life of a listener. */
import { z } from 'zod'
import { anyValue, instant, textId } from './answer-parts.ts'
import { body, nameText } from './api-body.ts'

const SUBSCRIPTION_STATES = ['REGISTERED', 'ACTIVE', 'PAUSED', 'DRAINING', 'DEACTIVATED'] as const
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]

interface Move {
  readonly from: readonly SubscriptionState[]
  readonly to: SubscriptionState
  readonly eventType: string
}

export const SUBSCRIPTION_MOVES: Readonly<Record<string, Move>> = {
  activate: {
    from: ['REGISTERED', 'PAUSED', 'DEACTIVATED', 'ACTIVE'],
    to: 'ACTIVE',
    eventType: 'subscription.activated',
  },
  pause: { from: ['ACTIVE', 'PAUSED'], to: 'PAUSED', eventType: 'subscription.paused' },
  resume: { from: ['PAUSED', 'ACTIVE'], to: 'ACTIVE', eventType: 'subscription.resumed' },
  drain: { from: ['ACTIVE', 'PAUSED', 'DRAINING'], to: 'DRAINING', eventType: 'subscription.draining' },
  deactivate: { from: SUBSCRIPTION_STATES, to: 'DEACTIVATED', eventType: 'subscription.deactivated' },
}

export const SubscriptionRequest = body({ path: nameText })

export const SubscriptionAnswer = z.object({
  subscription_id: textId,
  path: z.string(),
  catalog_id: textId,
  state: z.enum(SUBSCRIPTION_STATES),
  last_event_type: z.string(),
  updated_at: instant,
})

/** What a gateway needs to take messages for a listener. */
export const IngressAnswer = z.object({
  listener: z.string(),
  catalog_path: z.string(),
  source: z.string(),
  subscription_id: textId,
  verify: z.object({
    type: z.string(),
    header: z.string().optional(),
    secret: z.string().optional().meta({ description: 'The value itself' }),
    audience: z.string().optional(),
    service_account: z.string().optional(),
  }),
  dispatch: z.object({
    playbook: z.string(),
    payload_from: z.string(),
    execution_pool: z.string().optional(),
  }),
  directives: z.array(anyValue).optional(),
})

export const SubscriptionListAnswer = z.object({ subscriptions: z.array(SubscriptionAnswer) })
