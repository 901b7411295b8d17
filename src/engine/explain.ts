/**
 * Why a step ran, did not run, or waits.
 *
 * 1. It reads the log along with the fold: what happened is taken from the events, what conditions saw from the state
 *    before each of them. Values found that way are marked as evaluated again.
 * 2. It speaks of one activation of the step: a run, a skip, or the one that is still waited for.
 * 3. A step that waits names what keeps it waiting: upstreams that may still bring a token, and because of whom.
 * 4. A loop that goes on, after a retry or in a rerun, is not entered again: what makes it go on is the activation.
 */
import type { EventRecord } from '../contract/event.ts'
import { EVENT } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import type { Wait } from './as-of.ts'
import { stepWord, waitOf } from './as-of.ts'
import type { ArcVerdict, Judged } from './explain-arcs.ts'
import { judge, judgeArcs } from './explain-arcs.ts'
import type { Graph } from './graph.ts'
import type { Resolve } from './reference.ts'
import { isBlocked } from './ready.ts'
import type { Session } from './session.ts'
import { createSession, DEFAULT_LIMITS, scopeOf } from './session.ts'
import type { State } from './state.ts'
import { isTerminal, textOr } from './state.ts'

export type Verdict =
  | 'completed'
  | 'failed'
  | 'running'
  | 'waits'
  /** Its own condition said no. */
  | 'bypassed'
  /** No arc led to it. */
  | 'skipped'
  /** A step before it failed. */
  | 'blocked'
  | 'kept'
  /** Stopped by the end of the execution. */
  | 'stopped'
  | 'not_reached'

/** An arc into the step, as its source was left. */
export interface ArcSeen extends ArcVerdict {
  readonly from: string
  readonly fromRun: number
  readonly position: number
  readonly eventId: string
  readonly evaluatedAgain: boolean
}

/** A step with an arc into this one that has not been left since. */
export interface UpstreamPending {
  readonly step: string
  readonly state: string
  readonly error: string | null
}

export interface Explanation {
  readonly step: string
  readonly run: number | null
  readonly verdict: Verdict
  /** The event that decided it; null while nothing has. */
  readonly decidedBy: { readonly eventId: string; readonly position: number; readonly at: string } | null
  readonly arcs: readonly ArcSeen[]
  readonly upstreams: readonly UpstreamPending[]
  readonly guards: readonly (Judged & { readonly kind: 'when' | 'allow' | 'deny' })[]
  readonly join: {
    readonly arrived: readonly string[]
    readonly missing: readonly { readonly from: string; readonly because: readonly string[] }[]
  }
  /** Steps whose failure keeps it from running. */
  readonly failedUpstreams: readonly { readonly step: string; readonly error: string }[]
  readonly waits: readonly (Wait & { readonly commandId: string; readonly index: number | null })[]
  readonly error: string | null
  readonly onError: string
  readonly handled: boolean
  /** What brought it without an arc: `entry`, `reopened` or `seeded`. */
  readonly broughtBy: 'entry' | 'reopened' | 'seeded' | null
}

interface Activation {
  readonly event: EventRecord
  readonly run: number
  readonly arcs: readonly ArcSeen[]
  readonly arrived: readonly string[]
  readonly guards: Explanation['guards']
  readonly broughtBy: Explanation['broughtBy']
  /** As far as the log goes. */
  left: EventRecord | null
}

export interface Explainer {
  /** To be called with each event before it is folded. */
  observe(state: State, event: EventRecord): void
  /** With the state at the end. Null when the step has no such run. */
  explain(state: State, run: number | null): Explanation | null
}

export const createExplainer = (graph: Graph, name: string, resolve: Resolve): Explainer => {
  const sources = new Set(
    graph.playbook.steps.filter(({ arcs }) => arcs.some(({ to }) => to === name)).map((step) => step.name),
  )
  const activations: Activation[] = []
  const judgedBeforeSets = new Map<string, readonly ArcVerdict[]>()
  let arcs: ArcSeen[] = []
  let broughtBy: Explanation['broughtBy'] = graph.playbook.entry === name ? 'entry' : null

  const activate = (session: Session, event: EventRecord): void => {
    const { state } = session
    const isSkip = event.eventType === EVENT.stepSkipped
    const isGuarded = !isSkip || reasonOf(event) === 'guard'
    activations.push({
      event,
      run: keptRun(event) ?? (state.steps.get(name)?.run ?? 0) + (isGuarded ? 1 : 0),
      arcs,
      arrived: arrivedAt(state, name),
      guards: isGuarded ? judgeGuards(session, name) : [],
      broughtBy,
      left: null,
    })
    arcs = []
    broughtBy = null
  }

  const goOn = (state: State, event: EventRecord, how: 'reopened' | 'seeded'): void => {
    const run = (keptRun(event) ?? state.steps.get(name)?.run ?? 0) + 1
    activations.push({ event, run, arcs: [], arrived: [], guards: [], broughtBy: how, left: null })
    arcs = []
    broughtBy = null
  }

  const leave = (session: Session, event: EventRecord, from: string): void => {
    const { state } = session
    const verdicts = judgedBeforeSets.get(from) ?? judgeArcs(session, session.graph.step(from))
    judgedBeforeSets.delete(from)
    const next = event.result?.context?.['next']
    const isTaken = Array.isArray(next) && next.includes(name)
    for (const verdict of verdicts) {
      if (verdict.to !== name) continue
      arcs.push({
        ...verdict,
        // The log has the last word; the evaluation only tells several arcs to one step apart.
        fired: isTaken && verdict.fired,
        from,
        fromRun: state.steps.get(from)?.run ?? 0,
        position: event.position,
        eventId: event.eventId,
        evaluatedAgain: verdict.when !== null,
      })
    }
  }

  return {
    observe: (state, event) => {
      if (event.meta['emitted_by'] !== 'orchestrator') return
      const session = sessionAt(graph, state, event, resolve)
      const node = event.nodeName ?? ''
      if (event.eventType === EVENT.contextUpdated && sources.has(node) && isArcSet(event)) {
        if (!judgedBeforeSets.has(node)) judgedBeforeSets.set(node, judgeArcs(session, graph.step(node)))
      }
      if (event.eventType === EVENT.stepExit && sources.has(node)) leave(session, event, node)
      if (event.eventType === EVENT.reopened && isAmong(event.meta['steps'], name)) {
        if (hasUnfinishedLoop(state, name)) goOn(state, event, 'reopened')
        else broughtBy = 'reopened'
      }
      if (event.eventType === EVENT.seeded && isSeeded(event, name)) broughtBy = 'seeded'
      if (node !== name) return
      if (event.eventType === EVENT.stepExit) setLeft(activations.at(-1), event)
      if (keepsLoop(event)) goOn(state, event, 'seeded')
      else if (ACTIVATING.has(event.eventType)) activate(session, event)
    },
    explain: (state, run) => {
      const isPending = state.tokens.some(({ to }) => to === name)
      const found =
        run === null
          ? isPending
            ? undefined
            : activations.at(-1)
          : activations.findLast((activation) => activation.run === run)
      if (run !== null && !found) return null
      return describe(graph, state, name, found ?? null, found ? found.arcs : arcs, broughtBy)
    },
  }
}

const ACTIVATING: ReadonlySet<string> = new Set([EVENT.stepEnter, EVENT.stepSkipped, EVENT.stepKept])

const hasUnfinishedLoop = (state: State, name: string): boolean => {
  const step = state.steps.get(name)
  return (step?.loop ?? step?.stopped ?? null) !== null
}

const keepsLoop = ({ eventType, result }: EventRecord): boolean =>
  eventType === EVENT.stepKept && isObject(result?.context?.['loop'])

const setLeft = (activation: Activation | undefined, event: EventRecord): void => {
  if (activation) activation.left = event
}

const sessionAt = (graph: Graph, state: State, { createdAt }: EventRecord, resolve: Resolve): Session =>
  createSession(graph, state, {
    now: createdAt,
    nextId: () => '0',
    uuid: () => '00000000-0000-4000-8000-000000000000',
    resolve,
    limits: DEFAULT_LIMITS,
  })

const arrivedAt = (state: State, name: string): readonly string[] =>
  state.tokens.filter(({ to, from }) => to === name && from !== '').map(({ from }) => from)

const isArcSet = ({ result }: EventRecord): boolean => {
  const source = result?.context?.['source']
  return typeof source === 'string' && source.startsWith('arc:')
}

const isAmong = (names: Json | undefined, name: string): boolean =>
  Array.isArray(names) && names.includes(name)

const isSeeded = ({ result }: EventRecord, name: string): boolean => {
  const tokens = result?.context?.['tokens']
  return Array.isArray(tokens) && tokens.some((token) => (token as { to?: Json }).to === name)
}

const reasonOf = ({ result }: EventRecord): string => textOr(result?.context?.['reason'], '')

/** A kept step says itself how often it ran. */
const keptRun = ({ eventType, result }: EventRecord): number | null => {
  const run = eventType === EVENT.stepKept ? result?.context?.['run'] : null
  return typeof run === 'number' ? run : null
}

const judgeGuards = (session: Session, name: string): Explanation['guards'] => {
  const { when, admit } = session.graph.step(name)
  const scope = scopeOf(session)
  return [
    ...(when === null ? [] : [{ ...judge(when, scope), kind: 'when' as const }]),
    ...admit.map((rule) => ({
      ...judge(rule.when, scope),
      kind: rule.allow ? ('allow' as const) : ('deny' as const),
    })),
  ]
}

const describe = (
  graph: Graph,
  state: State,
  name: string,
  activation: Activation | null,
  arcs: readonly ArcSeen[],
  broughtBy: Explanation['broughtBy'],
): Explanation => {
  const step = state.steps.get(name)
  const isLatest = activation === null || activation.run === (step?.run ?? 0)
  const seen = new Set(arcs.map(({ from }) => from))
  const verdict = verdictOf(graph, state, name, activation, isLatest)
  const isOpen =
    verdict === 'waits' || verdict === 'not_reached' || verdict === 'blocked' || verdict === 'skipped'
  return {
    step: name,
    run: activation && activation.run > 0 ? activation.run : null,
    verdict,
    decidedBy: activation
      ? {
          eventId: activation.event.eventId,
          position: activation.event.position,
          at: activation.event.createdAt,
        }
      : null,
    arcs,
    upstreams: isOpen ? upstreamsOf(graph, state, name).filter((upstream) => !seen.has(upstream.step)) : [],
    guards: activation?.guards ?? [],
    join: {
      arrived: [...new Set(activation?.arrived ?? arrivedAt(state, name))],
      missing: verdict === 'waits' ? missingAt(graph, state, name) : [],
    },
    failedUpstreams: verdict === 'blocked' ? failedBefore(graph, state, name) : [],
    waits: isLatest
      ? [...state.commands.values()]
          .filter((command) => command.step === name)
          .map((command) => ({ ...waitOf(command), commandId: command.commandId, index: command.index }))
      : [],
    error: verdict === 'failed' ? (activation?.left?.error ?? step?.error?.message ?? null) : null,
    onError: graph.step(name).onError,
    handled: activation?.left?.result?.context?.['handled'] === true,
    broughtBy: activation ? activation.broughtBy : broughtBy,
  }
}

const verdictOf = (
  graph: Graph,
  state: State,
  name: string,
  activation: Activation | null,
  isLatest: boolean,
): Verdict => {
  if (!activation) {
    if (stepWord(state, name) === 'waiting') return 'waits'
    return isBlocked(graph, state, name) ? 'blocked' : 'not_reached'
  }
  const { event, left } = activation
  if (event.eventType === EVENT.stepKept && !keepsLoop(event)) return 'kept'
  if (event.eventType === EVENT.stepSkipped) {
    if (reasonOf(event) === 'guard') return 'bypassed'
    return reasonOf(event) === 'upstream_failed' ? 'blocked' : 'skipped'
  }
  if (left) return left.result?.status === 'FAILED' ? 'failed' : 'completed'
  if (!isLatest) return 'stopped'
  return isTerminal(state) ? 'stopped' : 'running'
}

/** Every step with an arc into this one, and how it stands. */
const upstreamsOf = (graph: Graph, state: State, name: string): readonly UpstreamPending[] =>
  graph.playbook.steps
    .filter(({ arcs }) => arcs.some(({ to }) => to === name))
    .map((upstream) => ({
      step: upstream.name,
      state: stepWord(state, upstream.name),
      error: state.steps.get(upstream.name)?.error?.message ?? null,
    }))

/** Upstreams without a token that may still bring one, with the live steps that could lead there. */
const missingAt = (graph: Graph, state: State, name: string): Explanation['join']['missing'] => {
  const arrived = new Set(state.tokens.filter(({ to }) => to === name).map(({ from }) => from))
  const live = new Set([...state.running, ...state.settled, ...state.tokens.map(({ to }) => to)])
  live.delete(name)
  return graph
    .forwardUpstreams(name)
    .filter((upstream) => !arrived.has(upstream))
    .map((from) => ({
      from,
      because: [...live].filter((step) => graph.mayStillReach(name, from).has(step)),
    }))
    .filter(({ because }) => because.length > 0)
}

/** Failed steps from which the way to this one was cut. */
const failedBefore = (graph: Graph, state: State, name: string): Explanation['failedUpstreams'] =>
  state.failures
    .filter(({ step }) => graph.reachable(step).has(name))
    .map(({ step, error }) => ({ step, error }))
