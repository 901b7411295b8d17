/** State as text and back: what a snapshot stores. Text of equal states is equal, key order included. */
import type { Json } from '../contract/json.ts'
import type { CommandState, State, StepState } from './state.ts'
import { createState, createStep } from './state.ts'

/** Grows when the shape of State changes; snapshots of another format are ignored and folded anew. */
const SNAPSHOT_FORMAT = 2

export const encodeState = (state: State): string =>
  JSON.stringify({
    ...state,
    format: SNAPSHOT_FORMAT,
    steps: [...state.steps],
    commands: [...state.commands.values()],
    running: [...state.running],
    deadTargets: [...state.deadTargets],
  })

interface Encoded extends Omit<State, 'steps' | 'commands' | 'running' | 'deadTargets'> {
  readonly format: number
  readonly steps: readonly [string, StepState & { data?: Json }][]
  readonly commands: readonly CommandState[]
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
    commands: new Map(commands.map((command) => [command.commandId, command])),
    running: new Set(running),
    deadTargets: new Set(deadTargets),
  }
}
