/** Business objects: things of the user's own world that events tell about, with versions and attributes. */
import type { LosslessJson, LosslessObject } from '../canonical-json.ts'
import { canonicalJson, isLosslessObject } from '../canonical-json.ts'
import type { BusinessObjectProjection, FoldState, PayloadRef } from './fold-state.ts'
import { UNKNOWN } from './fold-state.ts'
import type { BusinessIdentity } from './identity.ts'
import type { ReplayEvent } from './replay-event.ts'
import { integerAt } from './replay-event.ts'

const DELETED = 'DELETED'
const STATUS_BY_ENDING: readonly (readonly [string, string])[] = [
  ['.deleted', DELETED],
  ['.removed', DELETED],
  ['.created', 'ACTIVE'],
  ['.updated', 'ACTIVE'],
  ['.upserted', 'ACTIVE'],
]

export const foldBusinessObject = (
  state: FoldState,
  event: ReplayEvent,
  { type, id }: BusinessIdentity,
  part: LosslessObject,
  payload: PayloadRef | null,
): void => {
  const key = `${type}/${id}`
  const object = state.businessObjects.get(key) ?? createBusinessObject(state, event, key, { type, id })
  object.last_event_id = event.eventId
  object.last_event_type = event.eventType
  object.event_count += 1
  object.version =
    integerAt(part, 'version') ?? integerAt(event.meta, 'business_object_version') ?? object.event_count
  object.status = newStatusOf(event) ?? object.status
  if (newStatusOf(event) === DELETED) object.deleted_event_id = event.eventId
  foldAttributes(object, part)
  if (payload !== null) object.payload_refs.push(payload)
}

/** Null leaves the status as it is. */
const newStatusOf = ({ status, eventType }: ReplayEvent): string | null => {
  if (status) return status
  const lower = eventType.toLowerCase()
  return STATUS_BY_ENDING.find(([ending]) => lower.endsWith(ending))?.[1] ?? null
}

/** `state` replaces all of them; `patch`, or `attributes` where there is no patch at all, changes single ones. */
const foldAttributes = (object: BusinessObjectProjection, part: LosslessObject): void => {
  if (isLosslessObject(part['state'])) object.attributes = new Map(textEntries(part['state']))
  const change: LosslessJson | undefined = part['patch'] === undefined ? part['attributes'] : part['patch']
  if (!isLosslessObject(change)) return
  for (const [name, value] of textEntries(change)) object.attributes.set(name, value)
}

const textEntries = (values: LosslessObject): [string, string][] =>
  Object.entries(values).map(([name, value]) => [name, canonicalJson(value)])

const createBusinessObject = (
  state: FoldState,
  { eventId }: ReplayEvent,
  key: string,
  { type, id }: BusinessIdentity,
): BusinessObjectProjection => {
  const object: BusinessObjectProjection = {
    object_key: key,
    object_type: type,
    object_id: id,
    status: UNKNOWN,
    version: 0,
    event_count: 0,
    first_event_id: eventId,
    last_event_id: null,
    deleted_event_id: null,
    last_event_type: null,
    attributes: new Map(),
    payload_refs: [],
  }
  state.businessObjects.set(key, object)
  return object
}
