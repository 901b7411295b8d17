/**
 * Wake-ups over PostgreSQL's LISTEN and NOTIFY. Nothing but the database is needed, so this is what several servers
 * on one database use.
 *
 * Messages are sent over the listening connection, outside of the appends they speak of: a transaction that notifies
 * takes a lock that all such transactions of the database share, which the path of events must not wait for.
 */
import type { BroadcastOptions, OpenCarrier } from './broadcast.ts'
import { createBroadcastDispatcher } from './broadcast.ts'
import type { Dispatcher } from './dispatcher.ts'

/** A connection that listens on a channel and sends into it; see store/channel.ts. */
export interface Channel {
  send(text: string): Promise<void>
  close(): Promise<void>
}

export interface ChannelEvents {
  received(text: string): void
  connected(): void
  disconnected(): void
}

/** PostgreSQL takes less than 8,000 bytes. */
const MAX_BYTES = 7900

export const createPostgresDispatcher = (
  openChannel: (events: ChannelEvents) => Channel,
  options: BroadcastOptions = {},
): Dispatcher => {
  const open: OpenCarrier = (events) => ({ ...openChannel(events), maxBytes: MAX_BYTES })
  return createBroadcastDispatcher(open, options)
}
