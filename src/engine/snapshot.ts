/**
 * State as text and back: what a snapshot stores. Text of equal states is equal, key order included. Commands are lists
 * of values: a wide loop has thousands of them, and the names of their fields would be most of the text.
 */
import type { Json } from '../contract/json.ts'
import type { CommandState, State, StepState } from './state.ts'
import { createState, createStep } from './state.ts'

/** Grows when the shape of State changes; snapshots of another format are ignored and folded anew. */
const SNAPSHOT_FORMAT = 3

export const encodeState = (state: State): string =>
  JSON.stringify({
    ...state,
    format: SNAPSHOT_FORMAT,
    steps: [...state.steps],
    commands: [...state.commands.values()].map(commandValues),
    running: [...state.running],
    deadTargets: [...state.deadTargets],
  })

interface Encoded extends Omit<State, 'steps' | 'commands' | 'running' | 'deadTargets'> {
  readonly format: number
  readonly steps: readonly [string, StepState & { data?: Json }][]
  readonly commands: readonly CommandValues[]
  readonly running: readonly string[]
  readonly deadTargets: readonly string[]
}

/** Null when the text is of another format. */
export const decodeState = (text: string): State | null => {
  const { format, steps, commands, running, deadTargets, ...rest } = JSON.parse(text) as Encoded
  if (format !== SNAPSHOT_FORMAT) return null
  return {
    ...createState(rest.executionId),
    ...rest,
    // A step without data has no `data` key in the text, but the fold keeps the key, at its place.
    steps: new Map(steps.map(([name, step]) => [name, { ...createStep(), ...step }])),
    commands: new Map(
      commands.map(commandOf).map((command): [string, CommandState] => [command.commandId, command]),
    ),
    running: new Set(running),
    deadTargets: new Set(deadTargets),
  }
}

type CommandValues = readonly [
  ...[eventId: string, commandId: string, position: number, step: string, run: number],
  ...[index: number | null, toolKind: string, maxAttempts: number, workerId: string | null],
  ...[leaseToken: string | null, attempt: number, isClaim: boolean, parked: boolean],
  early: CommandState['early'],
]

const commandValues = (command: CommandState): CommandValues => [
  command.eventId,
  command.commandId,
  command.position,
  command.step,
  command.run,
  command.index,
  command.toolKind,
  command.maxAttempts,
  command.workerId,
  command.leaseToken,
  command.attempt,
  command.isClaim,
  command.parked,
  command.early,
]

const commandOf = (values: CommandValues): CommandState => ({
  eventId: values[0],
  commandId: values[1],
  position: values[2],
  step: values[3],
  run: values[4],
  index: values[5],
  toolKind: values[6],
  maxAttempts: values[7],
  workerId: values[8],
  leaseToken: values[9],
  attempt: values[10],
  isClaim: values[11],
  parked: values[12],
  early: values[13],
})
