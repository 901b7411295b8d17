/** One execution to the end: everything in its log, then its status. The id of a message is the position of its event. */
import { createBell } from '../../lib/bell.ts'
import { readEvents } from '../../store/events.ts'
import { readExecution } from '../../store/executions.ts'
import { changesOf } from '../changes.ts'
import type { Core } from '../core.ts'
import { eventItem } from '../execution-answers.ts'
import type { EventStream } from './event-stream.ts'
import { KEEP_ALIVE_MS } from './event-stream.ts'

/** How often to look where changes of other servers are not told. */
export const LOOK_MS = 1000
const PAGE = 500

/** Ends when the execution is over and everything is told, or nobody listens any more. */
export const followExecution = async (
  core: Core,
  executionId: string,
  from: number,
  stream: EventStream,
): Promise<void> => {
  const database = core.shards.of(executionId)
  const changes = changesOf(core)
  const bell = createBell()
  const unwatch = changes.watch(executionId, bell.ring)
  stream.gone.addEventListener('abort', bell.ring)
  let position = from
  try {
    while (!stream.gone.aborted) {
      // Listen before looking: what happens in between must not be missed.
      const rung = bell.next(changes.hearsOthers() ? KEEP_ALIVE_MS : LOOK_MS)
      const events = await readEvents(database, executionId, { after: position, limit: PAGE })
      for (const event of events) {
        if (stream.gone.aborted) return
        position = event.position
        await stream.send({ name: event.eventType, data: eventItem(event), id: String(position) })
      }
      if (events.length === PAGE) continue
      const row = await readExecution(database, executionId)
      if (row && row.status !== 'RUNNING' && row.version <= position)
        return await stream.send({ name: 'end', data: { status: row.status, error: row.error } })
      await stream.keepAlive()
      if (!stream.gone.aborted) await rung
    }
  } finally {
    unwatch()
    stream.gone.removeEventListener('abort', bell.ring)
    bell.ring()
  }
}
