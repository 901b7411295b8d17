/**
 * Checksums of a replayed state, over canonical JSON (canonical-json.ts) of what the answer shows.
 *
 * 1. Each shown part has one: the execution object, or a map as a whole.
 * 2. `checksum` covers the whole state with the checksums of its parts, so it depends on the tenant and on the
 *    projection asked for.
 * 3. `digest` covers the facts alone: the execution, how far its log was folded, and the checksums of the parts
 *    shown. Its algorithm has a name with a version; a change of what it covers is a new name.
 * 4. The work is done in steps, so that a server can do something else in between.
 */
import { canonicalJson } from '../canonical-json.ts'
import type { Part, ReplayView } from './view.ts'
import { PARTS } from './view.ts'

export const DIGEST_ALGORITHM = 'noetl-replay-v1'

/** SHA-256 of UTF-8 text. */
export interface Hash {
  update(text: string): unknown
  /** Lower-case hexadecimal. */
  digest(): string
}

export interface Checksums {
  readonly checksum: string
  readonly digest: string
  /** Of the parts that are shown. */
  readonly parts: ReadonlyMap<Part, string>
}

/** Names of the maps on the wire. */
export const PART_KEY: Readonly<Record<Part, string>> = {
  business_object: 'business_objects',
  command: 'commands',
  execution: 'execution',
  frame: 'frames',
  loop: 'loops',
  stage: 'stages',
}

export const checksumText = (value: string): string => `{"type":"sha256","value":"${value}"}`

export const partChecksumsText = (parts: ReadonlyMap<Part, string>): string =>
  `{${PARTS.filter((part) => parts.has(part))
    .map((part) => `"${part}":${checksumText(parts.get(part) ?? '')}`)
    .join(',')}}`

export function* checksumSteps(view: ReplayView, createHash: () => Hash): Generator<void, Checksums> {
  const { head, state } = view
  const parts = new Map<Part, string>()
  const whole = createHash()
  let separator = '{'

  const member = (key: string, text: string): void => {
    whole.update(`${separator}"${key}":${text}`)
    separator = ','
  }
  /** A part goes into its own checksum and into that of the whole at once. */
  function* partSteps(part: Part, alone: boolean): Generator<void> {
    const hash = createHash()
    if (!alone) member(PART_KEY[part], '')
    for (const piece of view.partText(part, 'sorted')) {
      hash.update(piece)
      if (!alone) whole.update(piece)
      yield
    }
    if (view.shows(part)) parts.set(part, hash.digest())
  }

  // The checksums of all parts stand before the stages in the text of the whole.
  if (view.shows('stage')) yield* partSteps('stage', true)
  yield* partSteps('business_object', false)
  yield* partSteps('command', false)
  member('event_count', String(state.eventCount))
  yield* partSteps('execution', false)
  member('execution_id', head.executionId)
  yield* partSteps('frame', false)
  if (state.lastEventId !== null) member('last_event_id', state.lastEventId)
  if (state.lastEventType !== null) member('last_event_type', canonicalJson(state.lastEventType))
  yield* partSteps('loop', false)
  member('organization_id', canonicalJson(head.organizationId))
  member('projection', canonicalJson(head.projection))
  member('projection_checksums', partChecksumsText(parts))
  yield* partSteps('stage', false)
  member('tenant_id', canonicalJson(head.tenantId))
  whole.update('}')

  const facts = createHash()
  facts.update(digestInput(view, parts))
  return { checksum: whole.digest(), digest: facts.digest(), parts }
}

const digestInput = ({ head, state }: ReplayView, parts: ReadonlyMap<Part, string>): string => {
  const shown = PARTS.filter((part) => parts.has(part)).map((part) => `"${part}":"${parts.get(part)}"`)
  const members = [
    `"algorithm":"${DIGEST_ALGORITHM}"`,
    `"event_count":${state.eventCount}`,
    `"execution_id":${head.executionId}`,
    ...(state.lastEventId === null ? [] : [`"last_event_id":${state.lastEventId}`]),
    `"parts":{${shown.join(',')}}`,
  ]
  return `{${members.join(',')}}`
}

/** All steps at once. */
export const checksumsOf = (view: ReplayView, createHash: () => Hash): Checksums => {
  const steps = checksumSteps(view, createHash)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
