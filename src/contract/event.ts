/**
 * The log, described once. An event is immutable; an execution is the fold of its events in the order of
 * `position`, which counts from 1 without gaps. The names written here are the names on the wire.
 */
import type { Json, JsonObject } from './json.ts'

/** Events that the control plane itself writes. */
export const EVENT = {
  started: 'playbook_started',
  stepEnter: 'step.enter',
  stepExit: 'step.exit',
  stepSkipped: 'step.skipped',
  contextUpdated: 'ctx.updated',
  commandIssued: 'command.issued',
  commandClaimed: 'command.claimed',
  /** A lease ended without a result; the command waits again. */
  commandReleased: 'command.released',
  commandStarted: 'command.started',
  commandCompleted: 'command.completed',
  commandFailed: 'command.failed',
  commandCancelled: 'command.cancelled',
  callDone: 'call.done',
  callError: 'call.error',
  completed: 'playbook.completed',
  failed: 'playbook.failed',
  cancelled: 'playbook_cancelled',
  finalizedCompleted: 'playbook_completed',
  finalizedFailed: 'playbook_failed',
  /** An execution that was over runs again; `meta.steps` names the steps that do. */
  reopened: 'playbook.reopened',
  /** What a step came to in the execution that this one was forked from. */
  stepKept: 'step.kept',
  /** Where a forked execution goes on. */
  seeded: 'playbook.seeded',
} as const

export type ExecutionStatus = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

/** Every spelling of a terminal event, on reading. */
const TERMINAL: Readonly<Record<string, ExecutionStatus>> = {
  'playbook.completed': 'COMPLETED',
  playbook_completed: 'COMPLETED',
  'workflow.completed': 'COMPLETED',
  workflow_completed: 'COMPLETED',
  'playbook.failed': 'FAILED',
  playbook_failed: 'FAILED',
  'workflow.failed': 'FAILED',
  workflow_failed: 'FAILED',
  'playbook.cancelled': 'CANCELLED',
  playbook_cancelled: 'CANCELLED',
  'execution.cancelled': 'CANCELLED',
  execution_cancelled: 'CANCELLED',
}

export const terminalStatusOf = (eventType: string): ExecutionStatus | null =>
  Object.hasOwn(TERMINAL, eventType) ? (TERMINAL[eventType] ?? null) : null

/** Other spellings of worker events, on reading. */
const ALIASES: Readonly<Record<string, string>> = {
  'playbook.initialized': EVENT.started,
  'playbook.started': EVENT.started,
  step_enter: EVENT.stepEnter,
  step_started: EVENT.stepEnter,
  step_skipped: EVENT.stepSkipped,
  action_started: EVENT.commandStarted,
  action_completed: EVENT.commandCompleted,
  step_completed: EVENT.commandCompleted,
  action_done: EVENT.callDone,
  action_failed: EVENT.commandFailed,
  step_failed: EVENT.commandFailed,
}

export const canonicalEventType = (eventType: string): string =>
  Object.hasOwn(ALIASES, eventType) ? (ALIASES[eventType] ?? eventType) : eventType

/** The result envelope. Nothing else may stand beside these three keys. */
export interface EventResult {
  readonly status: string
  readonly context?: JsonObject
  readonly reference?: JsonObject
}

export interface EventRecord {
  readonly executionId: string
  readonly position: number
  readonly eventId: string
  /** ISO-8601 UTC. */
  readonly createdAt: string
  readonly eventType: string
  /** Step name, catalog path for the start, `playbook` for the end. */
  readonly nodeName: string | null
  readonly nodeType: string | null
  readonly status: string | null
  readonly parentEventId: string | null
  readonly workerId: string | null
  readonly durationMs: number | null
  readonly context: Json
  readonly result: EventResult | null
  readonly meta: JsonObject
  readonly error: string | null
  /** Set when the sender gave the id, which makes repeats recognisable. Not kept beyond storing. */
  readonly idFromSender?: true | undefined
}

/** The status of an event whose producer sent none. */
export const defaultEventStatus = (eventType: string): string => {
  if (/done|exit|completed/.test(eventType)) return 'COMPLETED'
  if (/error|failed/.test(eventType)) return 'FAILED'
  return 'RUNNING'
}
