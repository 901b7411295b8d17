/**
 * THE path. Every change to an execution goes through its mailbox: state, decide, append, acknowledge, wake.
 *
 * 1. One turn at a time per execution; inputs that arrive meanwhile are decided together in the next turn and
 *    written by one append.
 * 2. An input is answered after its events are on disk, never before.
 * 3. A lost race throws the state away: fold the new tail, decide again.
 * 4. A refusal, which writes nothing, is only given on a state known to be current.
 * 5. Commands issued to the worker in this process are leased by the same commit that issues them.
 * 6. Data too large for the log is written before the events that refer to it, once, however often a turn is taken.
 * 7. An input that cannot be decided or written fails alone: those that arrived with it are taken one by one.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { EventRecord } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { decide } from '../engine/decide.ts'
import { commandIdOf } from '../engine/envelope.ts'
import type { Graph } from '../engine/graph.ts'
import type { Input, Reply, ReportInput } from '../engine/input.ts'
import { refused } from '../engine/input.ts'
import { ResultMissing, ResultNeeded } from '../engine/reference.ts'
import { requirementsOf } from '../engine/requirements.ts'
import type { Environment, Session } from '../engine/session.ts'
import { createSession } from '../engine/session.ts'
import type { CommandState, State } from '../engine/state.ts'
import { createState, isTerminal } from '../engine/state.ts'
import { isLargerThan } from '../lib/json-size.ts'
import type { Append } from '../store/append.ts'
import { isUnavailable } from '../store/failure.ts'
import { buildAppend, LOCAL_TOKEN, poolOf, SERVER_POOL, TIMER_POOL } from './build-append.ts'
import { toLeasedCommand } from './leased-command.ts'
import type { LargeResults } from './large-results.ts'
import { CONTEXT_LIMIT } from './large-results.ts'
import type { LocalSlots } from './local-slots.ts'
import type { LoadedState } from './state-loader.ts'
import { isSnapshotDue } from './state-loader.ts'

export interface MailboxDeps {
  environment(): Environment
  readonly largeResults: LargeResults
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

/** Data stored apart that a turn turned out to need. */
type Needed = Map<string, Json>

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
        fetchWhatIsNeeded(error, needed),
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
    const local = slots ? claimLocally(session, slots) : []
    let won = false
    try {
      await slimCommands(session)
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
      const reply = repeat ?? decide(session, isReport(input) ? await slim(session, input) : input)
      replies.push(reply)
      if (!reply.ok) break
    }
    return replies
  }

  /**
   * A decision that needs data stored apart is made again with the data at hand. The turn keeps what it needed: two
   * results that do not fit into the cache together must not push each other out for ever.
   */
  const fetchWhatIsNeeded = async (error: unknown, needed: Needed): Promise<'again'> => {
    if (!(error instanceof ResultNeeded)) throw error
    try {
      needed.set(error.ref, await deps.largeResults.fetch(error.ref))
    } catch (problem) {
      // Deciding again finds out that it is gone, and what to make of that.
      if (!(problem instanceof ResultMissing)) throw problem
    }
    return 'again'
  }

  const slimmed = new WeakMap<Input, Promise<ReportInput>>()

  /** Data too large for the log goes into a row of its own, once, however often the turn is taken. */
  const slim = (session: Session, input: ReportInput): Promise<ReportInput> | ReportInput => {
    const command = input.commandId === null ? undefined : session.state.commands.get(input.commandId)
    if (!command || deps.largeResults.isInline(input.context)) return input
    let slimInput = slimmed.get(input)
    if (!slimInput) {
      slimInput = slimContext(session, command, input.context).then((context) =>
        context === input.context ? input : { ...input, context },
      )
      slimmed.set(input, slimInput)
    }
    return slimInput
  }

  /** The rows of a cursor are work to be issued, those of a loop become one list: both stay in the log. */
  const slimContext = ({ graph }: Session, command: CommandState, context: Json): Promise<Json> => {
    const { step, isClaim, index } = command
    return isClaim || index !== null
      ? deps.largeResults.internalise(context)
      : deps.largeResults.externalise(executionId, step, context, graph.step(step).outputSelect)
  }

  /** The same for the contexts of commands. The worker beside us has already got the whole one. */
  const slimCommands = async (session: Session): Promise<void> => {
    for (const issued of session.issued) {
      if (!isLargerThan(issued.context, CONTEXT_LIMIT)) continue
      const ref = await deps.largeResults.storeContext(executionId, issued.nodeName ?? '', issued.context)
      session.events[session.events.indexOf(issued)] = { ...issued, context: { _ref: ref } }
    }
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

  /** Leases what was just issued to the worker beside us, as far as it has room. */
  const claimLocally = (session: Session, slots: LocalSlots): readonly LeasedCommand[] => {
    const claimed: LeasedCommand[] = []
    const requires = requirementsOf(session.graph.playbook)
    for (const issued of session.issued) {
      const commandId = commandIdOf(issued.meta, undefined) ?? ''
      if (
        !session.state.commands.has(commandId) ||
        !slots.reserve(poolOf(session.state, issued.nodeType ?? ''), issued.nodeType ?? '', requires)
      )
        continue
      const { workerId } = slots
      const reply = decide(session, { type: 'claim', commandId, workerId, leaseToken: LOCAL_TOKEN })
      // A report in this very turn may have named another holder.
      if (!reply.ok) slots.giveBack([issued.nodeType ?? ''])
      else claimed.push(toLeasedCommand(issued, { commandId, leaseToken: LOCAL_TOKEN, attempt: 1 }))
    }
    return claimed
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

const isReport = (input: Input): input is ReportInput => input.type === 'report'

/** Where this commit put work that somebody must fetch. */
const waitingPools = (
  { state, issued, changes, timers }: Session,
  local: readonly LeasedCommand[],
): ReadonlySet<string> => {
  const pools = new Set<string>()
  const taken = new Set(local.map((command) => command.eventId))
  for (const event of issued) if (!taken.has(event.eventId)) pools.add(poolOf(state, event.nodeType ?? ''))
  if (changes.some((change) => change.status === 'PENDING')) pools.add(state.pool).add(SERVER_POOL)
  if (timers.some((timer) => timer.delayMs === 0)) pools.add(TIMER_POOL)
  return pools
}

const answerAll = (turn: Letter[], answers: readonly Answer[]): void => {
  const letters = turn.splice(0)
  for (const [index, answer] of answers.entries()) letters[index]?.resolve(answer)
}

const pause = (conflicts: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(200, 2 ** conflicts)))
