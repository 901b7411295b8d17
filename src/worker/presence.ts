/** Tells the control plane now and then that this worker lives, and at last that it does not. */
import type { ControlPlane, WorkerPresence } from '../contract/command.ts'
import type { Clock } from './clock.ts'
import { within } from './clock.ts'
import type { Log } from './log.ts'

const INTERVAL_MS = 15_000
const FAREWELL_MS = 2_000

export interface Presence {
  start(): void
  stop(): Promise<void>
}

export interface PresenceOptions {
  readonly clock: Clock
  readonly log: Log
  /** Whether no other try will be answered otherwise; then it falls silent. */
  readonly isFinal?: (error: unknown) => boolean
}

export const createPresence = (
  controlPlane: Pick<ControlPlane, 'announce' | 'farewell'>,
  presence: WorkerPresence,
  { clock, log, isFinal = () => false }: PresenceOptions,
): Presence => {
  let cancel: () => void = () => undefined
  let stopped = false
  let announcing: Promise<void> = Promise.resolve()

  const announce = async (): Promise<void> => {
    try {
      await controlPlane.announce(presence)
    } catch (error) {
      if (isFinal(error)) return
      // Work is leased and kept without it: only those who look at the list of workers miss something.
      log.warn({ err: error, worker_id: presence.workerId }, 'cannot announce this worker, trying again')
    }
    if (!stopped) cancel = clock.after(INTERVAL_MS, beat)
  }

  const beat = (): void => {
    announcing = announce()
  }

  return {
    start: beat,
    stop: async () => {
      stopped = true
      cancel()
      const leave = async (): Promise<void> => {
        await announcing
        await controlPlane.farewell(presence.workerId)
      }
      await within(clock, FAREWELL_MS, leave())
    },
  }
}
