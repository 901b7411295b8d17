/** A command this worker holds the lease of, from the moment it arrives until its report is answered. */
import type { LeasedCommand, LeaseKey } from '../contract/command.ts'

export interface HeldCommand {
  readonly command: LeasedCommand
  readonly key: string
  readonly instant: boolean
  /** Null for instant commands: they are over before anyone could abort them. */
  readonly controller: AbortController | null
  /** True when the lease is gone or given back: nothing more is said about the command. */
  abandoned: boolean
  /** Reading of the clock's `elapsed` when it arrived. */
  readonly heldAt: number
  /** Reading of the clock's `elapsed` when the tool was called. */
  startedAt: number
}

export const heldKey = (command: LeasedCommand): string => `${command.executionId}:${command.eventId}`

export const holdCommand = (command: LeasedCommand, instant: boolean, heldAt = 0): HeldCommand => ({
  command,
  key: heldKey(command),
  instant,
  controller: instant ? null : new AbortController(),
  abandoned: false,
  heldAt,
  startedAt: 0,
})

/** What a log line says about a command. */
export const commandFacts = ({ executionId, commandId, step }: LeasedCommand) => ({
  execution_id: executionId,
  command_id: commandId,
  step,
})

export const leaseKey = ({ executionId, eventId, leaseToken }: LeasedCommand): LeaseKey => ({
  executionId,
  eventId,
  leaseToken,
})
