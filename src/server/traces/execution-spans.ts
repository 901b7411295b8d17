/** The spans of an execution, read from its log page by page. */
import type { EventRecord } from '../../contract/event.ts'
import type { Span, SpanBuilder } from '../../replay/spans.ts'
import { spanBuilderOf } from '../../replay/spans.ts'
import { readEvents } from '../../store/events.ts'
import type { Shards } from '../../store/shards.ts'

const PAGE = 1000

export interface SpanRange {
  /** Only spans that ended after this position. */
  readonly after?: number
  /** Also those that have not ended yet. */
  readonly open?: boolean
}

/** In the order in which they ended. Nothing when the caller asked not to record its trace. */
export async function* executionSpans(
  shards: Shards,
  executionId: string,
  { after = 0, open = false }: SpanRange = {},
): AsyncGenerator<Span> {
  let builder: SpanBuilder | null = null
  for await (const event of eventsOf(shards, executionId)) {
    builder ??= spanBuilderOf(event)
    if (!builder.sampled) return
    const ended = builder.add(event)
    if (event.position > after) yield* ended
  }
  if (open && builder) yield* builder.open()
}

async function* eventsOf(shards: Shards, executionId: string): AsyncGenerator<EventRecord> {
  const database = shards.of(executionId)
  for (let after = 0; ;) {
    const events = await readEvents(database, executionId, { after, limit: PAGE })
    yield* events
    const last = events.at(-1)
    if (!last || events.length < PAGE) return
    after = last.position
  }
}
