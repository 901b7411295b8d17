/**
 * Keeps the leases of all held commands alive with one call per interval.
 *
 * 1. No timer runs while nothing is held.
 * 2. A failed call is repeated sooner than the interval: a lease outlives several of them.
 * 3. A lease answered with `lost` or `cancelled` is told to `onGone`, once.
 */
import type { ControlPlane, HeartbeatStatus } from '../contract/command.ts'
import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import { type HeldCommand, leaseKey } from './held-command.ts'
import type { Log } from './log.ts'

/** A lease outlives at least this many missed heartbeats, less one. */
const BEATS_PER_LEASE = 4
const DEFAULT_LEASE_MS = 60_000
/** A worker across the network learns of a cancelled command by its heartbeat: that must not take long. */
const LONGEST_INTERVAL_MS = 5_000

export interface HeartbeatOptions {
  readonly controlPlane: ControlPlane
  readonly workerId: string
  readonly clock: Clock
  readonly log: Log
  readonly held: ReadonlyMap<string, HeldCommand>
  /** How long a lease lasts without a heartbeat, as far as known. */
  readonly leaseMs?: (() => number) | undefined
  readonly onGone: (held: HeldCommand, status: Exclude<HeartbeatStatus, 'ok'>) => void
}

export interface Heartbeat {
  /** Called whenever a command becomes held. */
  ensure(): void
  /** Asks about the held commands now instead of at the next interval. */
  now(): void
  stop(): void
}

export const createHeartbeat = (options: HeartbeatOptions): Heartbeat => {
  const { controlPlane, workerId, clock, log, held, onGone } = options
  const intervalMs = (): number =>
    Math.min(LONGEST_INTERVAL_MS, (options.leaseMs?.() ?? DEFAULT_LEASE_MS) / BEATS_PER_LEASE)
  let ticking = false
  let beating = false
  let askedAgain = false
  let stopped = false
  let failures = 0
  let cancelTimer: () => void = () => undefined

  const schedule = (delayMs: number): void => {
    cancelTimer = clock.after(delayMs, () => void beat())
  }

  const beat = async (): Promise<void> => {
    beating = true
    const isHolding = await ask()
    beating = false
    if (!isHolding || stopped) return
    if (askedAgain) schedule(0)
    else schedule(failures === 0 ? intervalMs() : Math.min(intervalMs(), backoffMs(failures)))
    askedAgain = false
  }

  /** False when nothing is held: the next one held starts the beat anew. */
  const ask = async (): Promise<boolean> => {
    const commands = [...held.values()].filter((each) => !each.abandoned)
    if (commands.length === 0) {
      ticking = false
      return false
    }
    try {
      const leases = commands.map((each) => leaseKey(each.command))
      const statuses = await controlPlane.heartbeat({ workerId, leases })
      failures = 0
      for (const [index, each] of commands.entries()) {
        const status = statuses[index] ?? 'ok'
        if (status !== 'ok' && !each.abandoned && held.get(each.key) === each) onGone(each, status)
      }
    } catch (error) {
      failures += 1
      log.warn({ err: error, failures }, 'heartbeat failed, trying again')
    }
    return true
  }

  return {
    ensure() {
      if (ticking || stopped) return
      ticking = true
      schedule(intervalMs())
    },
    now() {
      if (!ticking || stopped) return
      askedAgain = beating
      if (beating) return
      cancelTimer()
      void beat()
    },
    stop() {
      stopped = true
      cancelTimer()
    },
  }
}
