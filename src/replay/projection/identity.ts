/** Which stage, frame, command, loop and business object an event speaks of. An empty text is an id like any other. */
import { isLosslessObject } from '../canonical-json.ts'
import type { LosslessObject } from '../canonical-json.ts'
import type { ReplayEvent } from './replay-event.ts'
import { textAt } from './replay-event.ts'

/** A column of its own, else the aggregate, else the meta. */
export const stageIdOf = (event: ReplayEvent): string | null =>
  event.stageId ?? aggregateIdOf(event, 'stage') ?? textAt(event.meta, 'stage_id')

export const frameIdOf = (event: ReplayEvent): string | null =>
  event.frameId ?? aggregateIdOf(event, 'frame') ?? textAt(event.meta, 'frame_id')

export const commandIdOf = (event: ReplayEvent): string | null =>
  event.commandId ?? textAt(event.meta, 'command_id') ?? event.contextCommandId

export const loopIdOf = ({ meta }: ReplayEvent): string | null =>
  textAt(meta, 'loop_id') ?? textAt(meta, 'loop_event_id') ?? textAt(meta, '__loop_epoch_id')

const aggregateIdOf = ({ aggregateType, aggregateId }: ReplayEvent, type: string): string | null =>
  aggregateType === type && aggregateId !== null ? withoutPrefix(aggregateId, `${type}/`) : null

const withoutPrefix = (text: string, prefix: string): string =>
  text.startsWith(prefix) ? text.slice(prefix.length) : text

const NOTHING: LosslessObject = {}

/** What an event says about a business object in the object of that name. */
export const businessPartOf = ({ meta }: ReplayEvent): LosslessObject => {
  const part = meta['business_object']
  return isLosslessObject(part) ? part : NOTHING
}

export interface BusinessIdentity {
  readonly type: string
  readonly id: string
}

const BUSINESS_OBJECT = 'business_object'

/** Both parts are needed; the aggregate fills in what the meta does not say. */
export const businessIdentityOf = (event: ReplayEvent, part: LosslessObject): BusinessIdentity | null => {
  const { meta } = event
  let type =
    textAt(part, 'object_type') ??
    textAt(part, 'type') ??
    textAt(meta, 'business_object_type') ??
    textAt(meta, 'object_type')
  let id =
    textAt(part, 'object_id') ??
    textAt(part, 'id') ??
    textAt(meta, 'business_object_id') ??
    textAt(meta, 'object_id')
  if (event.aggregateType === BUSINESS_OBJECT && event.aggregateId !== null) {
    const [first = BUSINESS_OBJECT, ...rest] = withoutPrefix(event.aggregateId, `${BUSINESS_OBJECT}/`)
      .split('/')
      .filter((piece) => piece !== '')
    const named = rest.length > 0
    type ??= named ? first : BUSINESS_OBJECT
    id ??= named ? rest.join('/') : event.aggregateId
  }
  return type === null || id === null ? null : { type, id }
}
