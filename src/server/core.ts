/**
 * The control plane without its HTTP face: starts executions, tells them what happened, keeps their mailboxes.
 * Any number of these may work on one database; the version of each execution decides who wins.
 */
import { randomUUID } from 'node:crypto'
import { ProblemError } from '../contract/problem.ts'
import type { EventRecord } from '../contract/event.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { Graph } from '../engine/graph.ts'
import type { Input, Reply, StartInput } from '../engine/input.ts'
import type { Environment, Limits } from '../engine/session.ts'
import { DEFAULT_LIMITS } from '../engine/session.ts'
import type { State } from '../engine/state.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { NextId } from '../lib/snowflake.ts'
import type { Mirror } from '../store/append-mirror.ts'
import { createAppender } from '../store/appender.ts'
import { findWritten } from '../store/event-batches.ts'
import { hasEvent } from '../store/events.ts'
import { readVersion } from '../store/executions.ts'
import type { Shards } from '../store/shards.ts'
import { signed } from './access/sign-input.ts'
import { DEFAULT_LEASE_SECONDS } from './build-append.ts'
import { createDataApart } from './data-apart.ts'
import type { Instruments } from './instruments.ts'
import { NO_INSTRUMENTS } from './instruments.ts'
import type { LocalSlots } from './local-slots.ts'
import type { Log } from './log.ts'
import type { LargeResults } from './large-results.ts'
import { createLargeResults } from './large-results.ts'
import type { Answer, Mailbox, MailboxDeps } from './mailbox.ts'
import { createMailbox } from './mailbox.ts'
import { createMailboxes } from './mailboxes.ts'
import type { Playbooks, RegisteredPlaybook } from './playbooks.ts'
import { loadLiveState, saveSnapshot } from './state-loader.ts'
import { createWholeRepeats } from './whole-repeats.ts'

export interface CoreOptions {
  readonly shards: Shards
  readonly sealer: Sealer
  readonly playbooks: Playbooks
  readonly dispatcher: Dispatcher
  readonly nextId: NextId
  readonly now: () => Date
  readonly log: Log
  readonly limits?: Partial<Limits>
  /** Executions whose state is kept in memory. */
  readonly cachedExecutions?: number
  /** What these states may take of the memory together, about. */
  readonly cachedBytes?: number
  /** Seconds a lease lasts without a heartbeat. */
  readonly leaseSeconds?: number
  /** Bytes of results stored apart that are kept in memory. */
  readonly resultBytesAtHand?: number
  /** Writes what others are told of events and commands; without it nothing is written for them. */
  readonly mirror?: Mirror
  readonly instruments?: Instruments
}

export type CommitListener = (state: State, events: readonly EventRecord[]) => void

/** The answer to one input. */
export interface Told extends Omit<Answer, 'replies'> {
  readonly reply: Reply
}

export interface Core {
  readonly shards: Shards
  readonly sealer: Sealer
  readonly playbooks: Playbooks
  readonly dispatcher: Dispatcher
  readonly nextId: NextId
  readonly largeResults: LargeResults
  readonly log: Log
  readonly instruments: Instruments
  /** Seconds a lease lasts without a heartbeat. */
  readonly leaseSeconds: number
  start(
    playbook: RegisteredPlaybook,
    input: Omit<StartInput, 'type' | 'catalogId' | 'path' | 'version'>,
  ): Promise<Told & { executionId: string }>
  /** Starts an execution under an id that was fixed before; starting it again changes nothing and is refused. */
  startAs(
    executionId: string,
    playbook: RegisteredPlaybook,
    input: Omit<StartInput, 'type' | 'catalogId' | 'path' | 'version'>,
  ): Promise<Told>
  /** Hands an input to an execution. The answer comes after its events are on disk. */
  tell(executionId: string, input: Input): Promise<Told>
  /** Like `tell`, but a refusal is thrown as a ProblemError. */
  demand(executionId: string, input: Input): Promise<Told>
  /**
   * Several inputs, accepted together or not at all. `givenIds` are ids that reports among them were given for this very
   * purpose: once one of these is in the log, all of those reports count as known.
   */
  demandAll(executionId: string, inputs: readonly Input[], givenIds?: readonly string[]): Promise<Answer>
  attachWorker(slots: LocalSlots | null): void
  onCommit(listener: CommitListener): () => void
  /** Version conflicts so far: other servers working on the same executions. */
  conflicts(): number
  /** Executions whose state is in memory now. */
  cached(): number
  /** What these states take of the memory, about; one that takes more than all may together does not count. */
  cachedBytes(): number
  /** Resolves when nothing is being written. */
  idle(): Promise<void>
}

const CACHED_EXECUTIONS = 10_000
const CACHED_BYTES = 256 * 1024 * 1024

export const createCore = (options: CoreOptions): Core => {
  const {
    shards,
    sealer,
    playbooks,
    dispatcher,
    nextId,
    log,
    cachedExecutions = CACHED_EXECUTIONS,
    cachedBytes = CACHED_BYTES,
    leaseSeconds = DEFAULT_LEASE_SECONDS,
    instruments = NO_INSTRUMENTS,
  } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const mirror = options.mirror ? { mirror: options.mirror } : {}
  const appenders = new Map(
    shards.all.map((database) => [
      database,
      createAppender({ database, sealer, onGroup: instruments.appended, ...mirror }),
    ]),
  )
  const mailboxes = createMailboxes({ executions: cachedExecutions, bytes: cachedBytes })
  const listeners = new Set<CommitListener>()
  let localSlots: LocalSlots | null = null
  let conflictCount = 0

  const largeResults = createLargeResults({
    shards,
    sealer,
    nextId,
    ...(options.resultBytesAtHand === undefined ? {} : { atHandBytes: options.resultBytesAtHand }),
  })

  const environment = (): Environment => ({
    now: options.now().toISOString(),
    nextId,
    uuid: randomUUID,
    resolve: largeResults.resolve,
    limits,
  })

  const repeats = createWholeRepeats({
    hasEvent: (executionId, eventId) => hasEvent(shards.of(executionId), executionId, eventId),
    findWritten: (executionId, ids) => findWritten(shards.of(executionId), executionId, ids),
  })

  const deps: MailboxDeps = {
    environment,
    apart: createDataApart(largeResults),
    graphAtHand: (catalogId) => playbooks.atHand(catalogId)?.graph ?? null,
    graphOf: async (catalogId) => (await playbooks.byId(catalogId)).graph,
    load: async (executionId) => {
      const loaded = await loadLiveState(shards.of(executionId), executionId, sealer)
      if (loaded) mailboxes.loaded(loaded.state)
      return loaded
    },
    append: (append) => {
      const appender = appenders.get(shards.of(append.execution.executionId))
      if (!appender) throw new Error('no appender for the shard')
      return appender.append(append)
    },
    currentVersion: (executionId) => readVersion(shards.of(executionId), executionId),
    hasEvent: repeats.isKnown,
    saveSnapshot: (state) => {
      saveSnapshot(shards.of(state.executionId), state, sealer).catch((error: unknown) =>
        log.warn({ execution_id: state.executionId, error }, 'snapshot not written'),
      )
    },
    committed: (state, events, waitingPools) => {
      mailboxes.committed(state, events)
      for (const pool of waitingPools) dispatcher.notify(pool)
      dispatcher.changed(state.executionId, events[0]?.position ?? state.position)
      for (const listener of listeners) listener(state, events)
    },
    localSlots: () => localSlots,
    leaseSeconds,
    decided: instruments.decided,
    conflicted: () => {
      conflictCount += 1
      instruments.conflicted()
    },
    rested: mailboxes.rested,
  }

  const mailboxOf = (executionId: string, starting: Graph | null = null): Mailbox =>
    mailboxes.use(executionId, () => createMailbox(executionId, deps, starting))

  const tell = async (executionId: string, input: Input): Promise<Told> =>
    only(await mailboxOf(executionId).deliver([signed(input)]))

  const startAs: Core['startAs'] = async (executionId, { catalogId, path, version, graph }, input) => {
    // An id that was used before has its mailbox or its log; the engine refuses to start it again.
    const start = signed({ ...input, type: 'start', catalogId, path, version })
    return only(await mailboxOf(executionId, graph).deliver([start]))
  }

  return {
    shards,
    sealer,
    playbooks,
    dispatcher,
    nextId,
    largeResults,
    log,
    instruments,
    leaseSeconds,
    tell,
    start: async (playbook, input) => {
      const executionId = nextId()
      return { ...(await startAs(executionId, playbook, input)), executionId }
    },
    startAs,
    demand: async (executionId, input) => {
      const answer = await tell(executionId, input)
      if (!answer.reply.ok) throw toError(answer.reply.problem)
      return answer
    },
    demandAll: async (executionId, inputs, givenIds = []) => {
      const deliver = (): Promise<Answer> => mailboxOf(executionId).deliver(inputs.map(signed))
      const answer = await repeats.during(givenIds, deliver)
      const refusal = answer.replies.find((reply) => !reply.ok)
      if (refusal && !refusal.ok) throw toError(refusal.problem)
      return answer
    },
    attachWorker: (slots) => {
      localSlots = slots
    },
    onCommit: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    conflicts: () => conflictCount,
    cached: () => mailboxes.size,
    cachedBytes: () => mailboxes.weight,
    idle: async () => {
      await Promise.all([...appenders.values()].map((appender) => appender.idle()))
    },
  }
}

const only = ({ replies: [reply], ...rest }: Answer): Told => {
  if (!reply) throw new Error('an input was not answered')
  return { ...rest, reply }
}

export const toError = ({
  code,
  message,
  details,
}: {
  code: ProblemError['code']
  message: string
  details?: ProblemError['details']
}): ProblemError => new ProblemError(code, message, details === undefined ? {} : { details })
