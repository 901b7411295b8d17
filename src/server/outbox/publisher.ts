/**
 * Publishes the messages that appends left in the outbox.
 *
 * 1. A message is marked as published after the other side has confirmed it; a server that dies in between publishes it
 *    again, under the same id.
 * 2. A message that is refused is tried again later and later; the others do not wait for it.
 * 3. While there is no connection nothing is claimed; what was claimed in vain is given back.
 * 4. Nobody waits for it: appends, requests and executions do not know whether it works.
 */
import type { Outlet, OutletMessage } from '../../dispatch/nats-outlet.ts'
import { createBell } from '../../lib/bell.ts'
import type { Database } from '../../store/database.ts'
import type { OutboxMessage } from '../../store/outbox.ts'
import { backoffSeconds, claimOutbox, markFailed, markPublished, releaseOutbox } from '../../store/outbox.ts'
import { onEvery } from '../../store/shards.ts'
import type { Core } from '../core.ts'
import type { Service } from '../service.ts'
import { fitPayload } from './oversized.ts'

const BATCH = 500
const POLL_MS = 1000
/** Before the type of an event in the subject of its message. */
const EVENTS = 'noetl.events.'

export interface OutboxPublisher extends Service {
  /** Publishes what is available; answers how many messages. */
  runOnce(): Promise<number>
}

export const createOutboxPublisher = (core: Core, outlet: Outlet): OutboxPublisher => {
  const publish = async (database: Database): Promise<number> => {
    for (let published = 0; outlet.isOpen();) {
      const rows = (await claimOutbox(database, BATCH)).toSorted(byId)
      const outcomes = await Promise.allSettled(rows.map((row) => outlet.publish(toMessage(row, outlet))))
      const done = rows.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      if (done.length > 0)
        await markPublished(
          database,
          done.map((row) => row.outbox_id),
        )
      for (const { subject } of done)
        if (subject?.startsWith(EVENTS)) core.instruments.published(subject.slice(EVENTS.length))
      const failed = rows.flatMap((row, index) => {
        const outcome = outcomes[index]
        return outcome?.status === 'rejected' ? [{ row, reason: outcome.reason as unknown }] : []
      })
      if (failed.length > 0) await putBack(database, failed)
      published += done.length
      if (rows.length < BATCH) return published
    }
    return 0
  }

  const putBack = async (
    database: Database,
    failed: readonly { readonly row: OutboxMessage; readonly reason: unknown }[],
  ): Promise<void> => {
    if (!outlet.isOpen()) {
      const ids = failed.map(({ row }) => row.outbox_id)
      return releaseOutbox(database, ids)
    }
    for (const { row, reason } of failed) {
      const error = reason instanceof Error ? reason.message : String(reason)
      core.log.warn(
        { outbox_id: row.outbox_id, subject: row.subject, error },
        'message not published; it will be tried again',
      )
      await markFailed(database, {
        outboxId: row.outbox_id,
        error,
        delaySeconds: backoffSeconds(row.attempts),
      })
    }
    return undefined
  }

  const runOnce = (): Promise<number> => onEvery(core.shards, publish)
  return { runOnce, ...createLoop(core, outlet, runOnce) }
}

const byId = (a: OutboxMessage, b: OutboxMessage): number =>
  BigInt(a.outbox_id) < BigInt(b.outbox_id) ? -1 : 1

const toMessage = (row: OutboxMessage, outlet: Outlet): OutletMessage => {
  const subject = row.subject ?? `${EVENTS}${row.event_id}`
  return {
    subject,
    payload: fitPayload(row.payload, outlet.maxBytes()),
    // A command that waits again is told again: that is a message of its own.
    id: subject.startsWith('noetl.commands.') ? `${row.event_id}.${row.outbox_id}` : row.event_id,
  }
}

/** Runs after commits, when the connection is back, and now and then for what other servers left. */
const createLoop = (core: Core, outlet: Outlet, runOnce: () => Promise<number>): Service => {
  const bell = createBell()
  const stopping = new AbortController()
  let running: Promise<void> | null = null
  let unsubscribe: readonly (() => void)[] = []

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const rung = bell.next(POLL_MS)
      await runOnce().catch((error: unknown) =>
        core.log.error(
          { service: 'outbox-publisher', error },
          'background service failed; it will try again',
        ),
      )
      if (stopping.signal.aborted) return bell.ring()
      await rung
    }
  }

  return {
    start: () => {
      if (running) return
      unsubscribe = [core.onCommit(bell.ring), outlet.onOpen(bell.ring)]
      running = loop()
    },
    stop: async () => {
      stopping.abort()
      for (const stop of unsubscribe) stop()
      bell.ring()
      await running
    },
  }
}
