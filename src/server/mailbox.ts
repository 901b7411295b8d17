/**
 * THE path. Every change to an execution goes through its mailbox: state, decide, append, acknowledge, wake.
 *
 * 1. One turn at a time per execution; inputs that arrive meanwhile are decided together in the next turn and
 *    written by one append.
 * 2. An input is answered after its events are on disk, never before.
 * 3. A lost race throws the state away: fold the new tail, decide again.
 * 4. A refusal, which writes nothing, is only given on a state known to be current.
 * 5. Commands issued to the worker in this process are leased by the same commit that issues them.
 * 6. An input that cannot be decided or written fails alone: those that arrived with it are taken one by one.
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
import type { Append } from '../store/append.ts'
import { isUnavailable } from '../store/failure.ts'
import { buildAppend } from './build-append.ts'
import type { DataApart, Needed } from './data-apart.ts'
import type { LocalSlots } from './local-slots.ts'
import type { LoadedState } from './state-loader.ts'
import { isSnapshotDue } from './state-loader.ts'
import { takeLocally, waitingPools } from './take-locally.ts'

export interface MailboxDeps {
  environment(): Environment
  readonly apart: DataApart
  /** The graph of a catalog entry, if it is in memory. */
  graphAtHand(catalogId: string): Graph | null
  graphOf(catalogId: string): Promise<Graph>
  load(executionId: string): Promise<LoadedState | null>
  append(append: Append): Promise<boolean>
  currentVersion(executionId: string): Promise<number | null>
  hasEvent(executionId: string, eventId: string): Promise<boolean>
  saveSnapshot(state: State): void
  /** Told after each commit. */
  committed(state: State, events: readonly EventRecord[], waitingPools: ReadonlySet<string>): void
  localSlots(): LocalSlots | null
  /** How long a command issued to the local worker is leased. */
  readonly leaseSeconds: number
  /** Told how long deciding a turn took, and how many inputs it had. */
  decided(milliseconds: number, inputs: number): void
  conflicted(): void
  /** Told when everything that was delivered is answered. */
  rested(executionId: string): void
}

export interface Answer {
  /** One reply per input of the letter. */
  readonly replies: readonly Reply[]
  readonly state: State | null
  /** Commands issued because of these inputs. */
  readonly commandsGenerated: number
}

/** Inputs that are accepted together or not at all. */
interface Letter {
  readonly inputs: readonly Input[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export interface Mailbox {
  deliver(inputs: readonly Input[]): Promise<Answer>
  isFinished(): boolean
}

const MAX_LETTERS = 500
const MAX_CONFLICTS = 50

export const createMailbox = (executionId: string, deps: MailboxDeps, fresh: Graph | null): Mailbox => {
  let letters: Letter[] = []
  let busy = false
  let state: State | null = fresh ? createState(executionId) : null
  /** Only while there is work: a state that waits must not keep its playbook in memory. */
  let graph: Graph | null = fresh
  /** The playbook of a start that is not in the store yet. */
  let starting = fresh
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
        await turnFailed(turn, error)
      }
      current = false
    }
    busy = false
    graph = null
    deps.rested(executionId)
  }

  /** Nothing of the turn was written. Unless the database is away, one of its letters is the culprit. */
  const turnFailed = async (turn: readonly Letter[], error: unknown): Promise<void> => {
    state = null
    const isShared = turn.length > 1 && !isUnavailable(error)
    for (const letter of turn) {
      if (!isShared) {
        letter.reject(error)
        continue
      }
      current = false
      await takeTurn([letter]).catch((own: unknown) => {
        state = null
        letter.reject(own)
      })
    }
  }

  /** Takes every letter that it answers out of the turn. */
  const takeTurn = async (turn: Letter[]): Promise<void> => {
    const needed: Needed = new Map()
    for (let conflicts = 0; conflicts < MAX_CONFLICTS;) {
      if (state) graph ??= starting ?? deps.graphAtHand(state.catalogId)
      if (!state || !graph) await load()
      if (!state || !graph) {
        const problem = refused('not_found', `Execution not found: ${executionId}`)
        for (const letter of turn.splice(0))
          letter.resolve({ replies: letter.inputs.map(() => problem), state: null, commandsGenerated: 0 })
        return
      }
      const outcome = await decideAndAppend(turn, state, graph, needed)
      if (outcome === 'done') return
      state = null
      current = false
      if (outcome === 'conflict') {
        deps.conflicted()
        conflicts += 1
        if (conflicts > 3) await pause(conflicts)
      } else if (outcome !== 'again') {
        // A letter was refused half way: what it had already changed must not be written.
        turn.splice(turn.indexOf(outcome), 1)
        if (turn.length === 0) return
      }
    }
    throw new ProblemError(
      'unavailable',
      `Execution ${executionId} is being changed by too many writers at once; try again`,
    )
  }

  /** Brings state and graph into memory; leaves no state where there is none in the store. */
  const load = async (): Promise<void> => {
    if (!state) {
      const loaded = await deps.load(executionId)
      if (loaded) {
        starting = null
        snapshotPosition = loaded.snapshotPosition
      } else if (starting === null) return
      // A start whose decision had to be made again has nothing in the store yet.
      state = loaded?.state ?? createState(executionId)
      current = true
    }
    graph = starting ?? (await deps.graphOf(state.catalogId))
  }

  /** `conflict`: the state was not the current one. A letter: it was refused and answered; decide without it. */
  const decideAndAppend = async (
    turn: Letter[],
    decided: State,
    decidedGraph: Graph,
    needed: Needed,
  ): Promise<'done' | 'conflict' | 'again' | Letter> => {
    const expectedVersion = decided.position
    const started = performance.now()
    const session = createSession(decidedGraph, decided, environmentWith(needed))
    const answers: Answer[] = []
    for (const letter of turn) {
      const { events, issued } = session
      const before = { events: events.length, issued: issued.length }
      const replies = await decideLetter(session, letter).catch((error: unknown) =>
        deps.apart.fetchNeeded(error, needed),
      )
      if (replies === 'again') return 'again'
      answers.push({ replies, state: session.state, commandsGenerated: issued.length - before.issued })
      if (events.length > before.events && replies.some((reply) => !reply.ok)) {
        if (!(await isCurrent(expectedVersion))) return 'conflict'
        letter.resolve({ replies, state: null, commandsGenerated: 0 })
        return letter
      }
    }
    deps.decided(performance.now() - started, answers.length)
    if (session.events.length === 0) {
      if (!(await isCurrent(expectedVersion))) return 'conflict'
      answerAll(turn, answers)
      return 'done'
    }
    // The worker that takes commands now gets them after the commit, also when it is being stopped by then.
    const slots = deps.localSlots()
    const local = slots ? takeLocally(session, slots) : []
    let won = false
    try {
      await deps.apart.slimCommands(session)
      const localWorkerId = slots?.workerId ?? null
      won = await deps.append(
        buildAppend(session, { expectedVersion, local, localWorkerId, leaseSeconds: deps.leaseSeconds }),
      )
    } finally {
      if (!won) slots?.giveBack(local.map((command) => command.toolKind))
    }
    if (!won) return 'conflict'
    afterCommit(session, turn, answers, local)
    if (local.length > 0) slots?.deliver(local)
    return 'done'
  }

  const environmentWith = (needed: Needed): Environment => {
    const environment = deps.environment()
    return { ...environment, resolve: (ref) => needed.get(ref) ?? environment.resolve(ref) }
  }

  const isCurrent = async (version: number): Promise<boolean> =>
    current || (await deps.currentVersion(executionId)) === version

  const decideLetter = async (session: Session, { inputs }: Letter): Promise<readonly Reply[]> => {
    const replies: Reply[] = []
    for (const input of inputs) {
      const repeat =
        input.type === 'report' && input.eventId !== null ? await findRepeat(session, input.eventId) : null
      const reply =
        repeat ?? decide(session, input.type === 'report' ? await deps.apart.slim(session, input) : input)
      replies.push(reply)
      if (!reply.ok) break
    }
    return replies
  }

  /** An id given by the sender may be in the log already: then this is a repeat. */
  const findRepeat = async (session: Session, eventId: string): Promise<Reply | null> => {
    const repeated =
      session.events.some((event) => event.eventId === eventId) || (await deps.hasEvent(executionId, eventId))
    return repeated ? { ok: true, eventId, duplicate: true } : null
  }

  const afterCommit = (
    session: Session,
    turn: Letter[],
    answers: readonly Answer[],
    local: readonly LeasedCommand[],
  ): void => {
    current = true
    starting = null
    answerAll(turn, answers)
    deps.committed(session.state, session.events, waitingPools(session, local))
    if (!isTerminal(session.state) && isSnapshotDue(session.state.position, snapshotPosition)) {
      snapshotPosition = session.state.position
      deps.saveSnapshot(session.state)
    }
  }

  return {
    deliver: (inputs) =>
      new Promise((resolve, reject) => {
        letters.push({ inputs, resolve, reject })
        if (!busy) void run()
      }),
    // A state without a status is one whose start was refused.
    isFinished: () => state === null || state.status === null || isTerminal(state),
  }
}

const answerAll = (turn: Letter[], answers: readonly Answer[]): void => {
  const letters = turn.splice(0)
  for (const [index, answer] of answers.entries()) letters[index]?.resolve(answer)
}

const pause = (conflicts: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(200, 2 ** conflicts)))
