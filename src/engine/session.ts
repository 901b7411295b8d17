/**
 * One turn of the engine: inputs come in, events come out, the state follows. Everything that is not a function
 * of state and input (time, ids, randomness) is given by the environment and ends up recorded in events.
 */
import type { EventRecord, EventResult } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Scope } from '../template/scope.ts'
import { evolve } from './evolve.ts'
import type { Graph } from './graph.ts'
import type { Locals } from './scope.ts'
import { createScope } from './scope.ts'
import type { Resolve } from './reference.ts'
import type { State } from './state.ts'

export interface Environment {
  /** ISO-8601 UTC instant of this turn. */
  readonly now: string
  readonly nextId: () => string
  readonly uuid: () => string
  /** Data of results that are stored apart, as far as it is at hand. */
  readonly resolve: Resolve
  readonly limits: Limits
}

export interface Limits {
  readonly runsPerStep: number
  readonly runsPerExecution: number
  /** Most commands of one loop outstanding at once when the playbook sets no bound. */
  readonly loopWindow: number
  /** Most items a loop may run over. */
  readonly loopItems: number
}

export const DEFAULT_LIMITS: Limits = {
  runsPerStep: 10_000,
  runsPerExecution: 100_000,
  loopWindow: 1000,
  loopItems: 1_000_000,
}

/** A change of a command's row that goes with the events. */
export interface CommandChange {
  readonly eventId: string
  readonly status: 'PENDING' | 'CLAIMED' | 'PARKED' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
  /** For CLAIMED: who holds it now. */
  readonly workerId?: string
}

/**
 * `child_ended`: tell the parent. `command_timeout`: tell this execution. `cancel_children`: cancel what is below this
 * execution. `follow_parent`: cancel this execution should its parent have been cancelled while it was started.
 */
export type TimerKind = 'child_ended' | 'command_timeout' | 'cancel_children' | 'follow_parent'

/** Something to be told later, to this execution or because of it. Stored with the events that ask for it. */
export interface NewTimer {
  readonly timerId: string
  readonly kind: TimerKind
  readonly delayMs: number
  readonly payload: JsonObject
}

export interface Session {
  readonly graph: Graph
  readonly state: State
  readonly environment: Environment
  readonly events: EventRecord[]
  readonly issued: EventRecord[]
  readonly changes: CommandChange[]
  readonly timers: NewTimer[]
  /** The event that caused what is being decided; parent of what follows. */
  trigger: string | null
}

export const createSession = (graph: Graph, state: State, environment: Environment): Session => ({
  graph,
  state,
  environment,
  events: [],
  issued: [],
  changes: [],
  timers: [],
  trigger: null,
})

export interface EventDraft {
  readonly eventType: string
  readonly nodeName: string | null
  readonly nodeType?: string | null
  readonly status: string
  readonly context?: Json
  readonly result?: EventResult | null
  readonly meta?: JsonObject
  readonly error?: string | null
  readonly workerId?: string | null
  readonly durationMs?: number | null
  readonly eventId?: string
  readonly idFromSender?: true
  readonly createdAt?: string
}

const ORCHESTRATOR: JsonObject = { emitted_by: 'orchestrator' }

/** Meta of what happens to the final step. */
export const FINAL: JsonObject = { ...ORCHESTRATOR, final: true }

export const emit = (session: Session, draft: EventDraft): EventRecord => {
  const { state, environment } = session
  const event: EventRecord = {
    executionId: state.executionId,
    position: state.position + 1,
    eventId: draft.eventId ?? environment.nextId(),
    createdAt: draft.createdAt ?? environment.now,
    eventType: draft.eventType,
    nodeName: draft.nodeName,
    nodeType: draft.nodeType ?? null,
    status: draft.status,
    parentEventId: session.trigger,
    workerId: draft.workerId ?? null,
    durationMs: draft.durationMs ?? null,
    context: draft.context ?? null,
    result: draft.result ?? null,
    meta: draft.meta ?? ORCHESTRATOR,
    error: draft.error ?? null,
    idFromSender: draft.idFromSender,
  }
  session.events.push(event)
  evolve(state, event)
  return event
}

export const scopeOf = ({ graph, state, environment }: Session, locals?: Locals): Scope =>
  createScope(graph, state, {
    now: environment.now,
    uuid: environment.uuid,
    resolve: environment.resolve,
    ...(locals ? { locals } : {}),
  })
