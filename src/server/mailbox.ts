/**
 * THE path. Every change to an execution goes through its mailbox: state, decide, append, acknowledge, wake.
 *
 * 1. One turn at a time per execution; inputs that arrive meanwhile are decided together in the next turn and
 *    written by one append.
 * 2. An input is answered after its events are on disk, never before.
 * 3. A lost race throws the state away: fold the new tail, decide again.
 * 4. A refusal, which writes nothing, is only given on a state known to be current.
 * 5. Commands issued to the worker in this process are leased by the same commit that issues them.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { EventRecord } from '../contract/event.ts'
import { ProblemError } from '../contract/problem.ts'
import { decide } from '../engine/decide.ts'
import type { Graph } from '../engine/graph.ts'
import type { Input, Reply } from '../engine/input.ts'
import { refused } from '../engine/input.ts'
import type { Environment, Session } from '../engine/session.ts'
import { createSession } from '../engine/session.ts'
import type { State } from '../engine/state.ts'
import { createState, isTerminal } from '../engine/state.ts'
import type { Append } from '../store/appender.ts'
import { buildAppend, LOCAL_TOKEN } from './build-append.ts'
import { toLeasedCommand } from './leased-command.ts'
import type { LocalSlots } from './local-slots.ts'
import type { LoadedState } from './state-loader.ts'
import { isSnapshotDue } from './state-loader.ts'

export interface MailboxDeps {
  environment(): Environment
  /** The graph of a catalog entry. */
  graphOf(catalogId: string): Promise<Graph>
  load(executionId: string): Promise<LoadedState | null>
  append(append: Append): Promise<boolean>
  currentVersion(executionId: string): Promise<number | null>
  hasEvent(executionId: string, eventId: string): Promise<boolean>
  saveSnapshot(state: State): void
  /** Told after each commit. */
  committed(state: State, events: readonly EventRecord[], waitingPools: ReadonlySet<string>): void
  localSlots(): LocalSlots | null
  conflicted(): void
}

export interface Answer {
  readonly reply: Reply
  readonly state: State | null
  /** Commands issued because of this turn's inputs. */
  readonly commandsGenerated: number
}

interface Letter {
  readonly input: Input
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export interface Mailbox {
  deliver(input: Input): Promise<Answer>
  /** True when nothing is queued or under way. */
  isIdle(): boolean
  isFinished(): boolean
}

const MAX_LETTERS = 500
const MAX_CONFLICTS = 50

export const createMailbox = (executionId: string, deps: MailboxDeps, fresh: Graph | null): Mailbox => {
  let letters: Letter[] = []
  let busy = false
  let state: State | null = fresh ? createState(executionId) : null
  let graph: Graph | null = fresh
  let snapshotPosition = 0
  /** The cached state equals the stored one for certain. */
  let current = fresh !== null

  const run = async (): Promise<void> => {
    busy = true
    while (letters.length > 0) {
      const turn = letters.splice(0, MAX_LETTERS)
      try {
        await takeTurn(turn)
      } catch (error) {
        state = null
        for (const letter of turn) letter.reject(error)
      }
      current = false
    }
    busy = false
  }

  const takeTurn = async (turn: readonly Letter[]): Promise<void> => {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      if (!(await ensureState()) || !state || !graph) {
        const problem = refused('not_found', `Execution not found: ${executionId}`)
        for (const letter of turn) letter.resolve({ reply: problem, state: null, commandsGenerated: 0 })
        return
      }
      if (await decideAndAppend(turn, state, graph)) return
      deps.conflicted()
      state = null
      current = false
      if (conflicts > 2) await pause(conflicts)
    }
    throw new ProblemError('unavailable', `Execution ${executionId} is being changed by too many writers at once; try again`)
  }

  const ensureState = async (): Promise<boolean> => {
    if (state) return true
    const loaded = await deps.load(executionId)
    if (!loaded) return false
    state = loaded.state
    snapshotPosition = loaded.snapshotPosition
    current = true
    graph = await deps.graphOf(state.catalogId)
    return true
  }

  /** False when the state was not the current one and the turn must be taken again. */
  const decideAndAppend = async (turn: readonly Letter[], decided: State, decidedGraph: Graph): Promise<boolean> => {
    const expectedVersion = decided.position
    const session = createSession(decidedGraph, decided, deps.environment())
    const replies: Reply[] = []
    for (const { input } of turn) {
      replies.push((input.type === 'report' && (await findRepeat(session, input.eventId))) || decide(session, input))
    }
    if (session.events.length === 0 || isRefusedStart(turn, replies)) {
      if (!current && (await deps.currentVersion(executionId)) !== expectedVersion) return false
      answerAll(turn, replies, session)
      return true
    }
    const local = claimLocally(session)
    let won = false
    try {
      won = await deps.append(buildAppend(session, expectedVersion, local, deps.localSlots()?.workerId ?? null))
    } finally {
      if (!won) deps.localSlots()?.giveBack(local.map((command) => command.toolKind))
    }
    if (!won) return false
    afterCommit(session, turn, replies, local)
    return true
  }

  /** An id given by the sender may be in the log already: then this is a repeat. */
  const findRepeat = async (session: Session, eventId: string | null): Promise<Reply | null> => {
    if (eventId === null) return null
    const repeated = session.events.some((event) => event.eventId === eventId) || (await deps.hasEvent(executionId, eventId))
    return repeated ? { ok: true, eventId, duplicate: true } : null
  }

  const afterCommit = (session: Session, turn: readonly Letter[], replies: readonly Reply[], local: readonly LeasedCommand[]): void => {
    current = true
    answerAll(turn, replies, session)
    const waitingPools = new Set<string>()
    if (session.issued.length > local.length || session.changes.some((change) => change.status === 'PENDING')) waitingPools.add(session.state.pool)
    deps.committed(session.state, session.events, waitingPools)
    if (local.length > 0) deps.localSlots()?.deliver(local)
    if (!isTerminal(session.state) && isSnapshotDue(session.state.position, snapshotPosition)) {
      snapshotPosition = session.state.position
      deps.saveSnapshot(session.state)
    }
  }

  /** Leases what was just issued to the worker beside us, as far as it has room. */
  const claimLocally = (session: Session): readonly LeasedCommand[] => {
    const slots = deps.localSlots()
    if (!slots || session.issued.length === 0) return []
    const claimed: LeasedCommand[] = []
    for (const issued of session.issued) {
      const commandId = String(issued.meta['command_id'])
      if (!session.state.commands.has(commandId) || !slots.reserve(session.state.pool, issued.nodeType ?? '')) continue
      decide(session, { type: 'claim', commandId, workerId: slots.workerId, leaseToken: LOCAL_TOKEN })
      claimed.push(toLeasedCommand(issued, { commandId, leaseToken: LOCAL_TOKEN, attempt: 1 }))
    }
    return claimed
  }

  return {
    deliver: (input) =>
      new Promise((resolve, reject) => {
        letters.push({ input, resolve, reject })
        if (!busy) void run()
      }),
    isIdle: () => !busy && letters.length === 0,
    isFinished: () => state === null || isTerminal(state),
  }
}

const answerAll = (turn: readonly Letter[], replies: readonly Reply[], session: Session): void => {
  for (const [index, letter] of turn.entries()) {
    const reply = replies[index]
    if (reply) letter.resolve({ reply, state: session.state, commandsGenerated: session.issued.length })
  }
}

/** Nothing of an execution is written whose start was refused. */
const isRefusedStart = (turn: readonly Letter[], replies: readonly Reply[]): boolean =>
  turn[0]?.input.type === 'start' && replies[0]?.ok === false

const pause = (conflicts: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(200, 2 ** conflicts)))
