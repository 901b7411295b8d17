/** Listeners and where they stand. Of one path there is at most one that is not deactivated. */
import type { SubscriptionState } from '../contract/subscription.ts'
import type { Database } from './database.ts'

export interface SubscriptionRow {
  readonly subscription_id: string
  readonly path: string
  readonly catalog_id: string
  readonly state: SubscriptionState
  readonly last_event_type: string
  readonly updated_at: string
}

const COLUMNS = 'subscription_id, path, catalog_id, state, last_event_type, updated_at'

/** The subscription of the path; a new one when there is none that is not deactivated. */
export const registerSubscription = async (
  database: Database,
  { subscriptionId, path, catalogId }: { subscriptionId: string; path: string; catalogId: string },
): Promise<SubscriptionRow> => {
  const { rows } = await database.query<SubscriptionRow>(
    `insert into noetl.subscription (subscription_id, path, catalog_id, state, last_event_type)
     values ($1, $2, $3, 'REGISTERED', 'subscription.registered')
     on conflict (path) where state <> 'DEACTIVATED' do update set catalog_id = excluded.catalog_id
     returning ${COLUMNS}`,
    [subscriptionId, path, catalogId],
  )
  const [row] = rows
  if (!row) throw new Error('an upsert returned no row')
  return row
}

export interface SubscriptionDocument {
  readonly catalog_id: string
  readonly path: string
  readonly content: string
}

/** The newest version of every path that is a subscription. */
export const listSubscriptionDocuments = async (
  database: Database,
): Promise<readonly SubscriptionDocument[]> =>
  (
    await database.query<SubscriptionDocument>(
      `select catalog_id, path, content from noetl.catalog c
       where kind = 'subscription' and archived_at is null and not exists (
         select from noetl.catalog n where n.path = c.path and n.archived_at is null and n.version > c.version)
       order by path`,
    )
  ).rows

export const listSubscriptions = async (database: Database): Promise<readonly SubscriptionRow[]> =>
  (
    await database.query<SubscriptionRow>(
      `select ${COLUMNS} from noetl.subscription order by subscription_id`,
    )
  ).rows

export const readSubscription = async (database: Database, id: string): Promise<SubscriptionRow | null> =>
  (
    await database.query<SubscriptionRow>(
      `select ${COLUMNS} from noetl.subscription where subscription_id = $1`,
      [id],
    )
  ).rows[0] ?? null

/** Moves it on if it stands in one of the states and no other one of its path is alive; null otherwise. */
export const moveSubscription = async (
  database: Database,
  id: string,
  { from, to, eventType }: { from: readonly SubscriptionState[]; to: SubscriptionState; eventType: string },
): Promise<SubscriptionRow | null> =>
  (
    await database.query<SubscriptionRow>(
      `update noetl.subscription set state = $3, last_event_type = $4, updated_at = now()
       where subscription_id = $1 and state = any ($2)
         and not (state = 'DEACTIVATED' and exists (
           select from noetl.subscription o
           where o.path = noetl.subscription.path and o.state <> 'DEACTIVATED' and o.subscription_id <> $1))
       returning ${COLUMNS}`,
      [id, from, to, eventType],
    )
  ).rows[0] ?? null
