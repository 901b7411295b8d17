/**
 * Laws of the fold, tried on random logs.
 *
 * 1. A beginning, continued with the rest, is the whole.
 * 2. The order of arrival changes nothing.
 * 3. An event that is there twice changes nothing.
 * 4. A snapshot at any point leads to the same state and checksums.
 * 5. The answer says what the checksums say: recomputed from it, they are the same.
 *
 * REPLAY_SEEDS runs more of them, REPLAY_SEED only the one with that number.
 */
import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Random } from '../../engine/testing/random.ts'
import { createRandom } from '../../engine/testing/random.ts'
import type { LosslessObject } from '../canonical-json.ts'
import { canonicalJson, parseLossless } from '../canonical-json.ts'
import { randomLog, shuffled } from '../testing/random-log.ts'
import { shownText } from '../testing/shown.ts'
import { answerPieces } from './answer.ts'
import type { Hash } from './checksums.ts'
import { checksumsOf } from './checksums.ts'
import { foldEvent, foldEvents } from './fold.ts'
import type { FoldState } from './fold-state.ts'
import { createFoldState } from './fold-state.ts'
import type { ReplayEvent } from './replay-event.ts'
import { eventOfRow } from './replay-event.ts'
import { snapshotLines, stateOfLines } from './snapshot.ts'
import type { Projection } from './view.ts'
import { createReplayView, PROJECTIONS } from './view.ts'

const SEEDS = Number(process.env['REPLAY_SEEDS'] ?? 150)
const ONLY = process.env['REPLAY_SEED']
const seeds = ONLY === undefined ? Array.from({ length: SEEDS }, (_, index) => index + 1) : [Number(ONLY)]

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const createSha256 = (): Hash => {
  const hash = createHash('sha256')
  return { update: (text) => hash.update(text), digest: () => hash.digest('hex') }
}

const randomEvents = (random: Random): readonly ReplayEvent[] =>
  randomLog(random, 1 + random.below(80))
    .map((row) => eventOfRow(row, { tenantId: 'default', organizationId: 'default' }))
    .filter((event) => event !== null)

const restarted = (state: FoldState): FoldState => stateOfLines(snapshotLines(state))

const checkPrefixes = (events: readonly ReplayEvent[], whole: string, random: Random): void => {
  const at = random.below(events.length + 1)
  const beginning = foldEvents(events.slice(0, at))
  expect(shownText(foldEvents(events.slice(at), beginning)), `cut at ${at} (law 1)`).toBe(whole)
  let resumed = createFoldState()
  for (const event of events) {
    foldEvent(resumed, event)
    if (random.chance(0.2)) resumed = restarted(resumed)
  }
  expect(shownText(resumed), 'snapshots on the way (law 4)').toBe(whole)
}

const checkArrival = (events: readonly ReplayEvent[], whole: string, random: Random): void => {
  expect(shownText(foldEvents(shuffled(random, events))), 'shuffled (law 2)').toBe(whole)
  const repeated = events.flatMap((event) => (random.chance(0.3) ? [event, event] : [event]))
  expect(shownText(foldEvents(shuffled(random, repeated))), 'repeated (law 3)').toBe(whole)
}

const OF_THE_REPLAY = ['digest', 'truncated', 'last_position', 'applied_from_snapshot']
const KEY_OF: Readonly<Record<string, string>> = {
  business_object: 'business_objects',
  command: 'commands',
  execution: 'execution',
  frame: 'frames',
  loop: 'loops',
  stage: 'stages',
}

/** As a reader of the answer would do it, who knows nothing but the documentation. */
const checkAnswer = (state: FoldState, projection: Projection): void => {
  const view = createReplayView(state, {
    tenantId: 't',
    organizationId: 'ö',
    executionId: '42',
    projection,
    status: null,
  })
  const text = [
    ...answerPieces(view, checksumsOf(view, createSha256), '"truncated":false,"last_position":1'),
  ].join('')
  const answer = parseLossless(text) as LosslessObject
  const checksums = answer['projection_checksums'] as LosslessObject
  const parts = Object.fromEntries(
    Object.keys(checksums).map((part) => [part, sha256(canonicalJson(answer[KEY_OF[part] ?? '']))]),
  )
  expect(Object.keys(parts).length).toBe(projection === 'all' ? 6 : 1)
  for (const [part, value] of Object.entries(parts))
    expect(checksums[part]).toEqual({ type: 'sha256', value })
  const covered = Object.fromEntries(
    Object.entries(answer).filter(([key]) => key !== 'checksum' && !OF_THE_REPLAY.includes(key)),
  )
  expect(answer['checksum'], 'the whole (law 5)').toEqual({
    type: 'sha256',
    value: sha256(canonicalJson(covered)),
  })
  const { event_count = 0, execution_id = 0, last_event_id = 0 } = answer
  const facts = { algorithm: 'noetl-replay-v1', event_count, execution_id, last_event_id, parts }
  expect(answer['digest']).toEqual({ algorithm: 'noetl-replay-v1', value: sha256(canonicalJson(facts)) })
}

it(`holds for ${seeds.length} random logs`, () => {
  for (const seed of seeds) {
    try {
      const random = createRandom(seed)
      const events = randomEvents(random)
      const state = foldEvents(events)
      const whole = shownText(state)
      checkPrefixes(events, whole, random)
      checkArrival(events, whole, random)
      checkAnswer(state, random.chance(0.5) ? 'all' : random.pick(PROJECTIONS))
    } catch (error) {
      throw new Error(`REPLAY_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      })
    }
  }
})

it('meets everything that can be folded in the random logs', () => {
  const states = Array.from({ length: 30 }, (_, seed) => foldEvents(randomEvents(createRandom(seed))))
  for (const part of ['stages', 'frames', 'commands', 'businessObjects', 'loops'] as const)
    expect(
      states.some((state) => state[part].size > 1),
      part,
    ).toBe(true)
  expect(states.some((state) => [...state.loops.values()].some(({ done }) => done > 1))).toBe(true)
  expect(
    states.some((state) => [...state.businessObjects.values()].some((one) => one.payload_refs.length > 1)),
  ).toBe(true)
})
