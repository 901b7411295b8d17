/**
 * The answer of a replay as JSON text, in pieces: the state, its checksums, then what is told about the replay
 * itself.
 */
import { canonicalJson } from '../canonical-json.ts'
import type { Checksums } from './checksums.ts'
import { checksumText, DIGEST_ALGORITHM, PART_KEY, partChecksumsText } from './checksums.ts'
import type { Part, ReplayView } from './view.ts'

const SHOWN_ORDER: readonly Part[] = ['execution', 'stage', 'frame', 'command', 'business_object', 'loop']

/** `more` are further members, as JSON text without braces. */
export function* answerPieces(view: ReplayView, checksums: Checksums, more: string): Generator<string> {
  const { head, state } = view
  const first = [
    `"tenant_id":${canonicalJson(head.tenantId)}`,
    `"organization_id":${canonicalJson(head.organizationId)}`,
    `"execution_id":${head.executionId}`,
    `"projection":"${head.projection}"`,
    `"event_count":${state.eventCount}`,
  ]
  if (state.lastEventId !== null)
    first.push(
      `"last_event_id":${state.lastEventId}`,
      `"last_event_type":${canonicalJson(state.lastEventType)}`,
    )
  yield `{${first.join(',')}`
  for (const part of SHOWN_ORDER) {
    yield `,"${PART_KEY[part]}":`
    yield* view.partText(part, 'declared')
  }
  const last = [
    `"checksum":${checksumText(checksums.checksum)}`,
    `"projection_checksums":${partChecksumsText(checksums.parts)}`,
    `"digest":{"algorithm":"${DIGEST_ALGORITHM}","value":"${checksums.digest}"}`,
    ...(more === '' ? [] : [more]),
  ]
  yield `,${last.join(',')}}`
}
