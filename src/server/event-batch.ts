/**
 * Batches of events, and those among them that may be sent again under a key.
 *
 * 1. A key belongs to what was sent with it first, within its execution. Other events under it are refused and change nothing.
 * 2. The ids of the events are fixed with the key, before anything is written. So a batch whose server died is written by
 *    whoever sends it again, or found to be written; it is never lost and never there twice.
 * 3. All who send a batch get the same answer: it is recorded, and the first record counts. Two at once on one server
 *    share one attempt; on two servers one writes and the other finds it written.
 * 4. A refusal is not recorded: it wrote nothing, and the same batch may be taken later.
 */
import { createHash } from 'node:crypto'
import { ProblemError } from '../contract/problem.ts'
import type { ReportInput } from '../engine/input.ts'
import { writeLarge } from '../lib/write-large.ts'
import type { BatchAnswer, BatchKey, StoredBatch } from '../store/event-batches.ts'
import { claimBatch, countCommandsOf, findWritten, recordBatchAnswer } from '../store/event-batches.ts'
import type { Core } from './core.ts'

/** Writes the events, all or none. */
export const reportBatch = async (
  core: Core,
  executionId: string,
  inputs: readonly ReportInput[],
): Promise<BatchAnswer> => {
  const { replies, commandsGenerated } = await core.demandAll(executionId, inputs)
  return { eventIds: replies.filter((reply) => reply.ok).map(({ eventId }) => eventId), commandsGenerated }
}

/** What a sender calls the same batch must be the same; `sent` is what it sent. */
export const batchKey = async (executionId: string, key: string, sent: object): Promise<BatchKey> => ({
  executionId,
  key,
  digest: createHash('sha256')
    .update(await writeLarge(sent))
    .digest(),
})

const underWay = new WeakMap<Core, Map<string, Promise<BatchAnswer>>>()

/** Writes the events once, however often they are sent under the key. */
export const reportBatchOnce = (
  core: Core,
  key: BatchKey,
  inputs: readonly ReportInput[],
): Promise<BatchAnswer> => {
  const attempts = underWay.get(core) ?? new Map<string, Promise<BatchAnswer>>()
  underWay.set(core, attempts)
  const name = `${key.executionId} ${key.digest.toString('hex')} ${key.key}`
  const running = attempts.get(name)
  if (running) return running
  const attempt = writeOnce(core, key, inputs).finally(() => attempts.delete(name))
  attempts.set(name, attempt)
  return attempt
}

const writeOnce = async (core: Core, key: BatchKey, inputs: readonly ReportInput[]): Promise<BatchAnswer> => {
  const database = core.shards.of(key.executionId)
  const minted = inputs.map(({ eventId }) => eventId ?? core.nextId())
  const { eventIds, commandsGenerated } = ownBatch(key, await claimBatch(database, key, minted))
  if (commandsGenerated !== null) return { eventIds, commandsGenerated }
  return recordBatchAnswer(database, key, await write(core, key.executionId, inputs, eventIds))
}

const ownBatch = ({ executionId, key, digest }: BatchKey, stored: StoredBatch | null): StoredBatch => {
  if (stored === null) throw new ProblemError('not_found', `Execution not found: ${executionId}`)
  if (stored.digest.equals(digest)) return stored
  throw new ProblemError(
    'invalid',
    `Idempotency-Key '${key}' was sent with other events of execution ${executionId} before; use another key for these`,
  )
}

const write = async (
  core: Core,
  executionId: string,
  inputs: readonly ReportInput[],
  eventIds: readonly string[],
): Promise<BatchAnswer> => {
  const identified = inputs.map((input, index) => ({ ...input, eventId: eventIds[index] ?? null }))
  const given = eventIds.filter((_, index) => inputs[index]?.eventId === null)
  const { replies, commandsGenerated } = await core.demandAll(executionId, identified, given)
  const accepted = replies.filter((reply) => reply.ok)
  const isRepeat = accepted.every(({ duplicate }) => duplicate)
  const database = core.shards.of(executionId)
  const written = isRepeat ? await findWritten(database, executionId, given) : new Set<string>()
  // As without a key: an event that had nothing to record has no id.
  const recorded = accepted.map(({ eventId, duplicate }, index) =>
    duplicate && inputs[index]?.eventId === null && !written.has(eventId) ? '0' : eventId,
  )
  if (!isRepeat) return { eventIds: recorded, commandsGenerated }
  // Another attempt may have written it, and what followed with it.
  const causes = given.length > 0 ? given : eventIds
  return { eventIds: recorded, commandsGenerated: await countCommandsOf(database, executionId, causes) }
}
