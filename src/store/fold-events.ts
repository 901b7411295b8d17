/** The log as the fold reads it: without the contexts of commands, which are most of its bytes and change no state. */
import type { EventRecord } from '../contract/event.ts'
import { EVENT } from '../contract/event.ts'
import type { Sealer } from '../lib/sealer.ts'
import type { Database } from './database.ts'
import type { EventRow } from './event-row.ts'
import { EVENT_COLUMNS, fromEventRow } from './event-row.ts'

export interface FoldRange {
  /** Positions after this one. */
  readonly after: number
  /** Up to and with this one. */
  readonly upTo: number
  readonly sealer: Sealer
}

const COLUMNS = EVENT_COLUMNS.replace(
  / context,/,
  ` case when event_type = '${EVENT.commandIssued}' then null else context end as context,`,
)

const PAGE = 5000

/** The events of a range, oldest first, a page at a time. */
export async function* readForFold(
  database: Database,
  executionId: string,
  { after, upTo, sealer }: FoldRange,
): AsyncGenerator<readonly EventRecord[]> {
  for (let position = after; position < upTo;) {
    const { rows } = await database.query<EventRow>({
      name: 'read-for-fold',
      text: `select ${COLUMNS} from noetl.event
        where execution_id = $1 and position > $2 and position <= $3 order by position limit ${PAGE}`,
      values: [executionId, position, upTo],
    })
    if (rows.length === 0) return
    yield rows.map((row) => fromEventRow(row, sealer))
    if (rows.length < PAGE) return
    position = rows.at(-1)?.position ?? upTo
  }
}
