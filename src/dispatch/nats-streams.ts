/**
 * The streams and consumers that other programs expect to find on NATS. What is there already is left as it is: it may
 * have been made with care.
 */
import type { JetStreamManager } from '@nats-io/jetstream'

const COMMAND_STREAM = 'noetl_commands'
const EVENT_STREAM = 'noetl_events'

const SECOND = 1_000_000_000
const DUPLICATE_SECONDS = 120

const STREAMS = [
  {
    name: COMMAND_STREAM,
    subjects: ['noetl.commands', 'noetl.commands.>'],
    max_age: 3600 * SECOND,
    duplicate_window: DUPLICATE_SECONDS * SECOND,
  },
  {
    name: EVENT_STREAM,
    subjects: ['noetl.events.>'],
    max_age: 24 * 3600 * SECOND,
    duplicate_window: DUPLICATE_SECONDS * SECOND,
  },
]

const COMMON_CONSUMER = { ack_policy: 'explicit', ack_wait: 300 * SECOND, max_deliver: 1000 } as const

const CONSUMERS = [
  {
    stream: COMMAND_STREAM,
    config: {
      durable_name: 'worker-pool',
      filter_subject: 'noetl.commands.shared.>',
      deliver_policy: 'new',
      max_ack_pending: 64,
      ...COMMON_CONSUMER,
    },
  },
  {
    stream: EVENT_STREAM,
    config: { durable_name: 'noetl_projector', deliver_policy: 'all', ...COMMON_CONSUMER },
  },
  {
    stream: EVENT_STREAM,
    config: { durable_name: 'noetl_materializer', deliver_policy: 'all', ...COMMON_CONSUMER },
  },
] as const

/** Streams of another name that already keep the subjects serve as well. */
const SUBJECTS_OVERLAP = 10065
const STREAM_NAME_IN_USE = 10058
const STREAM_NOT_FOUND = 10059
const CONSUMER_NOT_FOUND = 10014

const codeOf = (error: unknown): number | undefined => (error as { code?: number }).code

const unless =
  (...codes: readonly number[]) =>
  (error: unknown): null => {
    if (codes.includes(codeOf(error) ?? 0)) return null
    throw error
  }

export const ensureStreams = async (manager: JetStreamManager): Promise<void> => {
  for (const stream of STREAMS) {
    if (await manager.streams.info(stream.name).catch(unless(STREAM_NOT_FOUND))) continue
    await manager.streams
      .add({ ...stream, storage: 'file' })
      .catch(unless(SUBJECTS_OVERLAP, STREAM_NAME_IN_USE))
  }
  for (const { stream, config } of CONSUMERS) {
    const known = await manager.consumers
      .info(stream, config.durable_name)
      .catch(unless(CONSUMER_NOT_FOUND, STREAM_NOT_FOUND))
    if (known) continue
    await manager.consumers.add(stream, { ...config }).catch(unless(STREAM_NOT_FOUND))
  }
}
