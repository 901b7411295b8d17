/**
 * The answer to a request for a replay, as pieces of JSON text. Other requests are served while large states are
 * written.
 */
import { createHash } from 'node:crypto'
import { setImmediate as untilOthersRan } from 'node:timers/promises'
import { answerPieces } from '../../replay/projection/answer.ts'
import type { Checksums, Hash } from '../../replay/projection/checksums.ts'
import { checksumSteps } from '../../replay/projection/checksums.ts'
import type { Projection, ReplayView } from '../../replay/projection/view.ts'
import { createReplayView } from '../../replay/projection/view.ts'
import type { Replayed, ReplayRequest } from './replay.ts'
import type { PayloadSource } from './resolve-payloads.ts'
import { resolvePayloads } from './resolve-payloads.ts'

const PIECES_AT_ONCE = 16

const createSha256 = (): Hash => {
  const hash = createHash('sha256')
  return { update: (text) => hash.update(text), digest: () => hash.digest('hex') }
}

export const checksumsAmongOthers = async (view: ReplayView): Promise<Checksums> => {
  const steps = checksumSteps(view, createSha256)
  for (let count = 1; ; count += 1) {
    const step = steps.next()
    if (step.done) return step.value
    if (count % PIECES_AT_ONCE === 0) await untilOthersRan()
  }
}

export interface AnswerOptions {
  readonly projection: Projection
  /** Looks behind references when it is given. */
  readonly payloads: PayloadSource | null
}

export const replayAnswer = async (
  { executionId, scope }: ReplayRequest,
  replayed: Replayed,
  { projection, payloads }: AnswerOptions,
): Promise<Iterable<string>> => {
  const view = createReplayView(replayed.state, {
    executionId,
    ...scope,
    projection,
    status: replayed.status,
  })
  const checksums = await checksumsAmongOthers(view)
  const told = aboutReplay(replayed)
  return answerPieces(view, checksums, payloads ? `${told},${await resolvePayloads(view, payloads)}` : told)
}

const aboutReplay = ({ nextEventId, lastPosition, snapshot }: Replayed): string => {
  const next = nextEventId === null ? '' : `,"next_event_id":${nextEventId}`
  const from = snapshot
    ? `{"last_event_id":${snapshot.lastEventId},"event_count":${snapshot.eventCount}}`
    : 'null'
  return `"truncated":${nextEventId !== null}${next},"last_position":${lastPosition},"applied_from_snapshot":${from}`
}
