/**
 * Asks the control plane for work, by long poll, as long as there is room for it.
 *
 * 1. At most one request is open. None is open while there is no room, and nothing wakes up meanwhile.
 * 2. A failure is followed by a growing, jittered pause; so is an empty answer that came back without waiting.
 * 3. A refusal that `isFinal` is the last answer asked for.
 * 4. Work that arrives after `stop` still reaches `take`: the lease exists and somebody has to hand it back.
 */
import type { ControlPlane, LeasedCommand } from '../contract/command.ts'
import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const WAIT_MS = 20_000
/** An empty answer faster than this did not wait for work. */
const HASTY_MS = 100

export interface LeaseLoopOptions {
  readonly controlPlane: ControlPlane
  readonly workerId: string
  readonly pool: string
  readonly capabilities: readonly string[]
  readonly clock: Clock
  readonly log: Log
  /** How many commands there is room for now. */
  readonly room: () => number
  readonly take: (commands: readonly LeasedCommand[]) => void
  /** Whether no other try will be answered otherwise. */
  readonly isFinal: (error: unknown) => boolean
}

export interface LeaseLoop {
  /** Looks for work if there is room and no request is open yet. Cheap: called whenever room may have appeared. */
  kick(): void
  /** Ends the open request, if any, and resolves when it is over. */
  stop(): Promise<void>
}

export const createLeaseLoop = (options: LeaseLoopOptions): LeaseLoop => {
  const { controlPlane, workerId, pool, capabilities, clock, log, room, take, isFinal } = options
  const stopping = new AbortController()
  let open: Promise<void> | null = null
  let cancelPause: (() => void) | null = null
  let failures = 0
  let isAway = false

  const pause = (): void => {
    failures += 1
    cancelPause = clock.after(backoffMs(failures), () => {
      cancelPause = null
      kick()
    })
  }

  const request = async (max: number): Promise<void> => {
    const startedAt = clock.elapsed()
    try {
      const commands = await controlPlane.lease({
        workerId,
        pool,
        capabilities,
        max,
        waitMs: WAIT_MS,
        signal: stopping.signal,
      })
      open = null
      if (isAway) log.warn({ failures }, 'work can be leased again')
      isAway = false
      if (commands.length > 0) take(commands)
      if (stopping.signal.aborted) return
      if (commands.length === 0 && clock.elapsed() - startedAt < HASTY_MS) pause()
      else failures = 0
    } catch (error) {
      open = null
      if (isFinal(error)) stopping.abort()
      if (stopping.signal.aborted) return
      isAway = true
      pause()
      log.warn({ err: error, failures }, 'cannot lease work, trying again')
    }
    kick()
  }

  const kick = (): void => {
    if (open !== null || cancelPause !== null || stopping.signal.aborted) return
    const max = room()
    if (max > 0) open = request(max)
  }

  return {
    kick,
    async stop() {
      stopping.abort()
      cancelPause?.()
      cancelPause = null
      await open
    },
  }
}
