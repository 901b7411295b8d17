/**
 * What may happen to an execution, said in a few words. Commands are named by their step, iterations by step
 * and index (`work#2`); only open commands can be named, and the oldest one is meant.
 */
import type { ToolError } from '../../contract/command.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import type { ChildInput, Input, ReportInput, StartInput } from '../input.ts'
import type { CommandState, State } from '../state.ts'

/** An input that can be told only when the state is known: it names an open command. */
export type Happening = (state: State) => Input

export const started =
  (payload: JsonObject = {}, more: Partial<StartInput> = {}): Happening =>
  () => ({
    type: 'start',
    catalogId: '7',
    path: 'tests/test',
    version: 1,
    payload,
    parentExecutionId: null,
    pool: 'shared',
    trace: null,
    ...more,
  })

export const commandNamed = (state: State, name: string): CommandState => {
  const open = [...state.commands.values()]
  const found = open.find((command) => nameOf(command) === name)
  if (found) return found
  throw new Error(`no open command '${name}'; open are: ${open.map(nameOf).join(', ') || 'none'}`)
}

export const nameOf = ({ step, index }: Pick<CommandState, 'step' | 'index'>): string =>
  index === null ? step : `${step}#${index}`

/** A client's event with nothing in it but its type. */
export const report = (eventType: string, more: Partial<ReportInput> = {}): ReportInput => ({
  type: 'report',
  eventType,
  step: '',
  commandId: null,
  leaseToken: null,
  workerId: null,
  eventId: null,
  status: null,
  context: null,
  reference: null,
  meta: {},
  createdAt: null,
  durationMs: null,
  ...more,
})

export const reported =
  (eventType: string, more: Partial<ReportInput> = {}): Happening =>
  () =>
    report(eventType, more)

/** An event about an open command. */
export const reportedOf =
  (name: string, eventType: string, more: Partial<ReportInput> = {}): Happening =>
  (state) => {
    const { step, commandId } = commandNamed(state, name)
    return report(eventType, { step, commandId, ...more })
  }

export const completed = (name: string, data?: Json, more: Partial<ReportInput> = {}): Happening =>
  reportedOf(name, 'command.completed', {
    status: 'COMPLETED',
    context: { result: { status: 'success', context: data === undefined ? {} : { data } } },
    ...more,
  })

export const errorOf = (message: string, more: Partial<ToolError> = {}): ToolError => ({
  kind: 'test',
  code: 'TEST',
  message,
  retryable: false,
  ...more,
})

export const failed = (name: string, message = 'boom', data?: Json): Happening => {
  const error = { ...errorOf(message) }
  return reportedOf(name, 'command.failed', {
    status: 'FAILED',
    context: {
      result: { status: 'error', context: data === undefined ? { error } : { data, error } },
      error,
    },
  })
}

/** The worker let go: the outcome will come from outside. */
export const parked = (
  name: string,
  timeoutMs: number | null = null,
  more: Partial<ReportInput> = {},
): Happening =>
  reportedOf(name, 'command.completed', {
    status: 'PENDING',
    context: {
      status: 'pending',
      pending_callback: true,
      ...(timeoutMs === null ? {} : { timeout_ms: timeoutMs }),
    },
    ...more,
  })

/** A callback brings the outcome. */
export const called = (name: string, data?: Json, more: Partial<ReportInput> = {}): Happening =>
  reportedOf(name, 'call.done', {
    context: { result: { status: 'success', context: data === undefined ? {} : { data } } },
    ...more,
  })

/** The child that a command waits for has ended. */
export const childEnded =
  (name: string, more: Partial<ChildInput> = {}): Happening =>
  (state) => ({
    type: 'child',
    commandId: commandNamed(state, name).commandId,
    childId: '900',
    path: 'tests/child',
    status: 'COMPLETED',
    data: null,
    error: null,
    ...more,
  })

export const timedOut =
  (name: string, timeoutMs = 5000): Happening =>
  (state) => ({ type: 'timeout', commandId: commandNamed(state, name).commandId, timeoutMs })

export const variablesWritten =
  (values: JsonObject, source = 'api'): Happening =>
  () => ({ type: 'variables', values, source })

export const claimed =
  (name: string, workerId: string, leaseToken: string): Happening =>
  (state) => ({ type: 'claim', commandId: commandNamed(state, name).commandId, workerId, leaseToken })

export const expired =
  (name: string, leaseToken: string | null = null): Happening =>
  (state) => ({
    type: 'release',
    commandId: commandNamed(state, name).commandId,
    leaseToken,
    reason: 'lease_expired',
  })

export const handedBack =
  (name: string, leaseToken: string | null = null): Happening =>
  (state) => ({
    type: 'release',
    commandId: commandNamed(state, name).commandId,
    leaseToken,
    reason: 'handed_back',
  })

export const cancelled =
  (reason: string | null = null): Happening =>
  () => ({ type: 'cancel', reason })

export const finalized =
  (status: 'COMPLETED' | 'FAILED', error: string | null = null): Happening =>
  () => ({ type: 'finalize', status, error })
