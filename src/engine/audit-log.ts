/**
 * What a log says must be stored beside it: timers of commands that wait, results that are stored apart.
 *
 * 1. A command that was parked with a limit of time has a timer as long as it is parked.
 * 2. A command of kind `playbook` that is parked waits for the execution of the same id.
 * 3. Only what stands where the control plane puts references is one. Data of tools may look like a reference and is none; so may
 *    an iteration, whose data is never stored apart.
 * 4. A reference to a result of another execution is not judged: a fork keeps that of its origin when the data is gone.
 */
import { parseReference } from '../contract/api-results.ts'
import type { EventRecord } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { CHILD_KIND } from './command.ts'
import { commandIdOf, reportedData } from './envelope.ts'
import { referenceOf } from './reference.ts'
import type { CommandState, State } from './state.ts'

export interface Waits {
  /** To be told every event, after the state has folded it. */
  see(event: EventRecord, state: State): void
  /** Commands that are open and must have a timer. */
  timed(state: State): readonly string[]
}

export const createWaits = (): Waits => {
  const timed = new Set<string>()
  return {
    see: (event, { commands }) => {
      const context = event.result?.context
      const commandId = commandIdOf(event.meta, context)
      if (commandId === null) return
      if (!commands.get(commandId)?.parked) timed.delete(commandId)
      else if (context?.['pending_callback'] === true && typeof context['timeout_ms'] === 'number')
        timed.add(commandId)
    },
    // The end of an execution names no command.
    timed: ({ commands }) => [...timed].filter((commandId) => commands.has(commandId)),
  }
}

/** Commands that wait for a child; its id is that of the command's event. */
export const waitingForChild = ({ commands }: State): readonly CommandState[] =>
  [...commands.values()].filter(({ parked, toolKind }) => parked && toolKind === CHILD_KIND)

/** A result of the execution itself that an event refers to, with what the event says of it. */
export interface LoggedReference {
  readonly ref: string
  readonly name: string
  readonly resultId: string
  readonly bytes: number | null
  readonly sha256: string | null
}

export const referenceIn = (event: EventRecord): LoggedReference | null => {
  const { executionId, result } = event
  const context = result?.context
  const data = context && dataIn(event, context)
  const ref = referenceOf(data)
  if (!context || ref === null) return null
  const declared = [isObject(context['result']) ? context['result']['reference'] : null, result.reference]
    .filter((each) => isObject(each))
    .find((each) => each['ref'] === ref)
  const facts = isObject(declared?.['meta']) ? declared['meta'] : {}
  return ownReference(executionId, ref, facts['bytes'] ?? sizeIn(data), facts['sha256'])
}

/** The context of a command that was too large for its event. */
export const contextReference = (executionId: string, ref: string): LoggedReference | null =>
  ownReference(executionId, ref, undefined, undefined)

const ownReference = (
  executionId: string,
  ref: string,
  bytes: Json | undefined,
  sha256: Json | undefined,
): LoggedReference | null => {
  const parsed = parseReference(ref)
  if (parsed?.kind !== 'stored' || parsed.executionId !== executionId) return null
  return {
    ref,
    name: parsed.name,
    resultId: parsed.resultId,
    bytes: typeof bytes === 'number' ? bytes : null,
    sha256: typeof sha256 === 'string' ? sha256 : null,
  }
}

const sizeIn = (marker: Json | undefined): Json | undefined =>
  isObject(marker) ? marker['_size_bytes'] : undefined

const REPORTS: ReadonlySet<string> = new Set([
  EVENT.commandCompleted,
  EVENT.commandFailed,
  EVENT.callDone,
  EVENT.callError,
])

const dataIn = (event: EventRecord, context: JsonObject): Json | undefined => {
  const type = canonicalEventType(event.eventType)
  if (type === EVENT.stepKept || terminalStatusOf(event.eventType) !== null) return context['data']
  if (!REPORTS.has(type) || isIteration(commandIdOf(event.meta, context))) return undefined
  return reportedData(context)
}

const isIteration = (commandId: string | null): boolean => commandId !== null && /:i\d+$/.test(commandId)
