/**
 * Wake-ups across processes over anything that carries short texts to all of them.
 *
 * 1. This process is woken at once; the others by a message that gathers what happened in a few milliseconds, so a busy
 *    server sends no more of them than an idle one that is poked now and then.
 * 2. At most one message is on its way. After one was lost, or may have been lost with a connection, everybody is told
 *    that there was a gap, here and elsewhere.
 * 3. What only this process works on (`isLocal`) is not told to others.
 */
import { randomUUID } from 'node:crypto'
import type { ChangeListener, Dispatcher } from './dispatcher.ts'
import type { Message } from './message.ts'
import { decodeMessage, encodeMessage } from './message.ts'
import { createWaiters } from './waiters.ts'

/** Carries texts to all processes, this one included or not. */
export interface Carrier {
  /** Resolves when the text is on its way; rejects when it is not. */
  send(text: string): Promise<void>
  readonly maxBytes: number
  close(): Promise<void>
}

/** What a carrier tells of itself. */
export interface CarrierEvents {
  received(text: string): void
  /** Work for this pool, from somebody who does not speak our messages. */
  woken(pool: string): void
  connected(): void
  disconnected(): void
}

export type OpenCarrier = (events: CarrierEvents) => Carrier

export interface BroadcastOptions {
  /** Pools that only this process works on. */
  readonly isLocal?: (pool: string) => boolean
}

/** Between two messages with work; workers wait for it. */
const WORK_PAUSE_MS = 4
/** Between two messages that only tell changes; people wait for it. */
const CHANGE_PAUSE_MS = 20
/** More changes at once than this are told as "any". */
const MAX_CHANGES = 1000

export const createBroadcastDispatcher = (
  open: OpenCarrier,
  { isLocal = () => false }: BroadcastOptions = {},
): Dispatcher => {
  const self = randomUUID()
  const waiters = createWaiters()
  const listeners = new Set<ChangeListener>()
  const outgoing = createOutgoing(self)
  let connected = false
  let wasConnected = false
  let closed = false

  const tell: ChangeListener = (changes) => {
    for (const listener of listeners) listener(changes)
  }
  const everybodyLooks = (): void => {
    waiters.wakeAll()
    tell(null)
  }

  const receive = (message: Message | null): void => {
    if (!message || message.from === self) return
    if (message.gap) return everybodyLooks()
    for (const pool of message.pools) waiters.wake(pool)
    if (message.changes === null || message.changes.size > 0) tell(message.changes)
  }

  const carrier = open({
    received: (text) => receive(decodeMessage(text)),
    woken: (pool) => waiters.wake(pool),
    connected: () => {
      connected = true
      everybodyLooks()
      // What was sent last may have been lost with the connection.
      if (wasConnected) outgoing.gap()
      wasConnected = true
      schedule()
    },
    disconnected: () => {
      connected = false
      // Those who relied on being told have to look from now on.
      tell(null)
    },
  })

  let busy = false
  let sentAt = -Infinity
  let timer: NodeJS.Timeout | null = null
  let timerAt = 0

  const schedule = (): void => {
    if (busy || closed || !connected || outgoing.isEmpty()) return
    const due = Math.max(performance.now(), sentAt + (outgoing.isUrgent() ? WORK_PAUSE_MS : CHANGE_PAUSE_MS))
    if (timer) {
      if (timerAt <= due) return
      clearTimeout(timer)
    }
    timerAt = due
    timer = setTimeout(() => void flush(), Math.max(0, due - performance.now()))
  }

  const flush = async (): Promise<void> => {
    timer = null
    if (closed || !connected) return
    busy = true
    sentAt = performance.now()
    try {
      await carrier.send(encodeMessage(outgoing.take(), carrier.maxBytes))
    } catch {
      // The carrier says itself when it is away and when it is back; then everybody looks.
      outgoing.gap()
    } finally {
      busy = false
    }
    schedule()
  }

  return {
    notify: (pool) => {
      waiters.wake(pool)
      if (closed || isLocal(pool)) return
      outgoing.addPool(pool)
      schedule()
    },
    wait: (pool, timeoutMs, signal) => (closed ? Promise.resolve() : waiters.wait(pool, timeoutMs, signal)),
    changed: (executionId, position) => {
      if (closed) return
      outgoing.addChange(executionId, position)
      schedule()
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    hearsOthers: () => connected && !closed,
    close: async () => {
      closed = true
      if (timer) clearTimeout(timer)
      waiters.wakeAll()
      await carrier.close()
    },
  }
}

interface Outgoing {
  addPool(pool: string): void
  addChange(executionId: string, position: number): void
  gap(): void
  isEmpty(): boolean
  /** True when somebody's work depends on it. */
  isUrgent(): boolean
  /** What gathered; nothing is left. */
  take(): Message
}

const createOutgoing = (from: string): Outgoing => {
  let pools = new Set<string>()
  let changes: Map<string, number> | null = new Map<string, number>()
  let gap = false
  return {
    addPool: (pool) => void pools.add(pool),
    addChange: (executionId, position) => {
      if (!changes) return
      const known = changes.get(executionId)
      if (known === undefined || position < known) changes.set(executionId, position)
      if (changes.size > MAX_CHANGES) changes = null
    },
    gap: () => {
      gap = true
    },
    isEmpty: () => pools.size === 0 && !gap && changes !== null && changes.size === 0,
    isUrgent: () => pools.size > 0 || gap,
    take: () => {
      const message = { from, pools: [...pools], changes, gap }
      pools = new Set()
      changes = new Map()
      gap = false
      return message
    },
  }
}
