/**
 * Keeps the leases of all held commands alive with one call per interval.
 *
 * 1. No timer runs while nothing is held.
 * 2. A failed call is repeated sooner than the interval: a lease outlives several of them. A refusal that `isFinal` is
 *    the last answer asked for.
 * 3. A lease answered with `lost` or `cancelled` is told to `onGone`, once.
 * 4. Where calls wait at the server, one waits all the time and is answered when a command is cancelled. It costs no more
 *    calls: it waits for an interval, and what comes meanwhile joins only once it has been held for a while.
 */
import type { ControlPlane, HeartbeatStatus } from '../contract/command.ts'
import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import { type HeldCommand, leaseKey } from './held-command.ts'
import type { Log } from './log.ts'

/** A lease outlives at least this many missed heartbeats, less one. */
const BEATS_PER_LEASE = 4
const DEFAULT_LEASE_MS = 60_000
/** Whoever does not hear of cancelled commands otherwise learns of them by this: it must not take long. */
const LONGEST_INTERVAL_MS = 5_000
/** A command that lasts longer than this is one that is worth waiting beside. */
const JOIN_MS = 1_000

export interface HeartbeatOptions {
  readonly controlPlane: Pick<ControlPlane, 'heartbeat'>
  readonly workerId: string
  readonly clock: Clock
  readonly log: Log
  readonly held: ReadonlyMap<string, HeldCommand>
  /** How long a lease lasts without a heartbeat, as far as known. */
  readonly leaseMs?: (() => number) | undefined
  /** Whether calls wait at the server for something to be cancelled. */
  readonly waits?: boolean | undefined
  readonly onGone: (held: HeldCommand, status: Exclude<HeartbeatStatus, 'ok'>) => void
  /** Whether no other try will be answered otherwise. */
  readonly isFinal: (error: unknown) => boolean
}

export interface Heartbeat {
  /** Called whenever a command becomes held. */
  ensure(): void
  /** Asks about the held commands now instead of at the next interval. */
  now(): void
  stop(): void
}

/** The call under way. */
interface OpenCall {
  readonly names: ReadonlySet<HeldCommand>
  readonly abort: AbortController
}

/** When to ask next: never, at once, or after the usual pause. */
type Next = 'never' | 'at once' | 'later'

export const createHeartbeat = (options: HeartbeatOptions): Heartbeat => {
  const { controlPlane, workerId, clock, log, held, waits = false, onGone, isFinal } = options
  const intervalMs = (): number =>
    Math.min(LONGEST_INTERVAL_MS, (options.leaseMs?.() ?? DEFAULT_LEASE_MS) / BEATS_PER_LEASE)
  let ticking = false
  let open: OpenCall | null = null
  let askedAgain = false
  let stopped = false
  let failures = 0
  let cancelTimer: () => void = () => undefined
  let cancelJoin: (() => void) | null = null

  const schedule = (delayMs: number): void => {
    cancelTimer = clock.after(delayMs, () => void beat())
  }

  const beat = async (): Promise<void> => {
    const startedAt = clock.elapsed()
    const next = await ask()
    open = null
    if (next === 'never' || stopped) return
    const isUrgent = askedAgain || next === 'at once'
    askedAgain = false
    schedule(isUrgent ? 0 : pauseMs(clock.elapsed() - startedAt))
  }

  /** A call that waited at the server was a part of its pause. */
  const pauseMs = (tookMs: number): number => {
    if (failures > 0) return Math.min(intervalMs(), backoffMs(failures))
    return waits ? Math.max(0, intervalMs() - tookMs) : intervalMs()
  }

  const ask = async (): Promise<Next> => {
    const commands = [...held.values()].filter((each) => !each.abandoned)
    if (commands.length === 0) {
      // The next one held starts the beat anew.
      ticking = false
      return 'never'
    }
    const abort = new AbortController()
    open = { names: new Set(commands), abort }
    try {
      const leases = commands.map((each) => leaseKey(each.command))
      const wait = waits ? { waitMs: intervalMs(), signal: abort.signal } : {}
      const statuses = await controlPlane.heartbeat({ workerId, leases, ...wait })
      failures = 0
      return tellGone(commands, statuses) && waits ? 'at once' : 'later'
    } catch (error) {
      if (abort.signal.aborted) return 'at once'
      if (isFinal(error)) return 'never'
      failures += 1
      log.warn({ err: error, failures }, 'heartbeat failed, trying again')
      return 'later'
    }
  }

  /** True when there was something to tell. */
  const tellGone = (commands: readonly HeldCommand[], statuses: readonly HeartbeatStatus[]): boolean => {
    let isGone = false
    for (const [index, each] of commands.entries()) {
      const status = statuses[index] ?? 'ok'
      if (status === 'ok' || each.abandoned || held.get(each.key) !== each) continue
      isGone = true
      onGone(each, status)
    }
    return isGone
  }

  /** Begins the wait anew for those who came after it began, once one of them has been held for a while. */
  const join = (): void => {
    cancelJoin = null
    const names = open?.names
    const others = [...held.values()].filter((each) => !each.abandoned && names?.has(each) === false)
    if (others.length === 0) return
    const oldest = Math.min(...others.map((each) => each.heldAt))
    const leftMs = oldest + JOIN_MS - clock.elapsed()
    if (leftMs <= 0) now()
    else cancelJoin = clock.after(leftMs, join)
  }

  const now = (): void => {
    if (!ticking || stopped) return
    if (open !== null) {
      askedAgain = true
      if (waits) open.abort.abort()
      return
    }
    cancelTimer()
    void beat()
  }

  return {
    ensure() {
      if (stopped) return
      if (ticking) {
        if (waits) cancelJoin ??= clock.after(JOIN_MS, join)
        return
      }
      ticking = true
      schedule(waits ? Math.min(JOIN_MS, intervalMs()) : intervalMs())
    },
    now,
    stop() {
      stopped = true
      cancelTimer()
      cancelJoin?.()
      open?.abort.abort()
    },
  }
}
