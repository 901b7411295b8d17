/** What the tools of an execution print, as it appears, until the execution is over. */
import { createBell } from '../../lib/bell.ts'
import { readExecution } from '../../store/executions.ts'
import type { OutputFilter, OutputRow } from '../../store/tool-output.ts'
import { readOutput } from '../../store/tool-output.ts'
import { changesOf } from '../changes.ts'
import type { Core } from '../core.ts'
import { onOutput } from '../tool-output.ts'
import type { EventStream } from './event-stream.ts'
import { LOOK_MS } from './follow-execution.ts'

const PAGE = 500

export const logEntry = ({ cursor, step, command_id, event_id, attempt, stream, at, text }: OutputRow) => ({
  cursor,
  step,
  command_id,
  event_id,
  attempt,
  stream,
  at,
  text,
})

export const followLogs = async (
  core: Core,
  executionId: string,
  filter: Omit<OutputFilter, 'after' | 'limit'>,
  from: string | null,
  stream: EventStream,
): Promise<void> => {
  const database = core.shards.of(executionId)
  const bell = createBell()
  const unwatch = changesOf(core).watch(executionId, bell.ring)
  const unlisten = onOutput(core, executionId, bell.ring)
  stream.gone.addEventListener('abort', bell.ring)
  let after = from
  try {
    while (!stream.gone.aborted) {
      // Listen before looking: what happens in between must not be missed.
      const rung = bell.next(LOOK_MS)
      // Asked before the output: what was printed before the end is there by then.
      const row = await readExecution(database, executionId)
      const rows = await readOutput(database, executionId, { ...filter, after, limit: PAGE })
      for (const each of rows) {
        if (stream.gone.aborted) return
        after = each.cursor
        await stream.send({ name: 'output', data: logEntry(each), id: each.cursor })
      }
      if (rows.length === PAGE) continue
      if (row && row.status !== 'RUNNING' && rows.length === 0)
        return await stream.send({ name: 'end', data: { status: row.status, error: row.error } })
      await stream.keepAlive()
      if (!stream.gone.aborted) await rung
    }
  } finally {
    unwatch()
    unlisten()
    stream.gone.removeEventListener('abort', bell.ring)
    bell.ring()
  }
}
