/**
 * Messages: plain ones and those of streams.
 *
 * 1. `publish` is acknowledged by the server, not by a reader; `js_publish` by the stream that keeps the message.
 * 2. `js_consume` takes what is there, at most `batch` messages, and waits for the first one no longer than `timeout_ms`. A
 *    consumer with a name is durable and made when it is missing; without a name the stream is read from its beginning.
 * 3. With `ack: false` the messages come again; otherwise they are acknowledged, and confirmed so, before the call answers.
 */
import type { Consumer, JsMsg } from '@nats-io/jetstream'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { configFailure } from '../../tool-failure.ts'
import { booleanField, integerField, textField } from '../coerce.ts'
import {
  boundedInteger,
  headerData,
  headersOf,
  needed,
  type Operation,
  type RunOperation,
} from './operation.ts'
import { contentOf, encodingOf, readContent } from './payload.ts'

const REQUEST_MS = { least: 1, fallback: 5_000, most: 600_000 }
const BATCH = { least: 1, fallback: 100, most: 1_000 }
/** The server takes no wait below a second for a fetch. */
const CONSUME_MS = { least: 1, fallback: 1_000, most: 5_000 }
const SHORTEST_FETCH_MS = 1_000

const content = ({ config }: Operation): Buffer =>
  contentOf(config, 'data', 'value', 'payload', 'message') ?? Buffer.alloc(0)

const publish: RunOperation = async (operation) => {
  const subject = needed(operation.config, 'publish', 'subject')
  const bytes = content(operation)
  const headers = headersOf(operation)
  operation.connection.publish(subject, bytes, headers === undefined ? {} : { headers })
  await operation.connection.flush()
  return { status: 'success', subject, bytes: bytes.length }
}

const request: RunOperation = async (operation) => {
  const { config, connection } = operation
  const subject = needed(config, 'request', 'subject')
  const headers = headersOf(operation)
  const answer = await connection.request(subject, content(operation), {
    timeout: boundedInteger(config, 'timeout_ms', REQUEST_MS),
    ...(headers === undefined ? {} : { headers }),
  })
  const data = readContent(answer.data, encodingOf(config))
  return { status: 'success', subject, data, ...headerData(answer.headers) }
}

const publishToStream: RunOperation = async (operation) => {
  const { config, connection, packages } = operation
  const subject = needed(config, 'js_publish', 'subject')
  const headers = headersOf(operation)
  const messageId = textField(config, 'msg_id', 'message_id')
  const stream = textField(config, 'stream')
  const acknowledged = await packages.jetstream.jetstream(connection).publish(subject, content(operation), {
    ...(headers === undefined ? {} : { headers }),
    ...(messageId === null ? {} : { msgID: messageId }),
    ...(stream === null ? {} : { expect: { streamName: stream } }),
  })
  const { stream: kept, seq, duplicate } = acknowledged
  return { status: 'success', subject, stream: kept, sequence: seq, duplicate }
}

const consumerOf = async ({ config, connection, packages }: Operation): Promise<Consumer> => {
  const { jetstream, jetstreamManager, AckPolicy } = packages.jetstream
  const stream = needed(config, 'js_consume', 'stream')
  const durable = textField(config, 'consumer', 'durable')
  const subject = textField(config, 'subject', 'filter_subject')
  const filter = subject === null ? {} : { filter_subject: subject }
  const client = jetstream(connection)
  // An ordered consumer asks for nothing of the stream; whether it exists is found out first.
  const manager = await jetstreamManager(connection)
  if (durable === null) {
    await manager.streams.info(stream)
    return client.consumers.get(stream, subject === null ? {} : { filter_subjects: subject })
  }
  const known = await manager.consumers.info(stream, durable).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'ConsumerNotFoundError') return null
    throw error
  })
  if (known === null) {
    await manager.consumers.add(stream, { durable_name: durable, ack_policy: AckPolicy.Explicit, ...filter })
  }
  return client.consumers.get(stream, durable)
}

const messageData = (message: JsMsg, config: JsonObject): JsonObject => ({
  subject: message.subject,
  sequence: message.seq,
  data: readContent(message.data, encodingOf(config)),
  timestamp: message.time.toISOString(),
  redelivered: message.redelivered,
  ...headerData(message.headers),
})

const consume: RunOperation = async (operation) => {
  const { config, signal } = operation
  const batch = boundedInteger(config, 'batch', BATCH)
  const waitMs = boundedInteger(config, 'timeout_ms', CONSUME_MS)
  const isDurable = textField(config, 'consumer', 'durable') !== null
  const isAcknowledged = isDurable && booleanField(config, true, 'ack')
  const consumer = await consumerOf(operation)
  const fetched = await consumer.fetch({ max_messages: batch, expires: Math.max(waitMs, SHORTEST_FETCH_MS) })
  const stop = (): void => void fetched.close()
  signal.addEventListener('abort', stop, { once: true })
  const timer = setTimeout(stop, waitMs)
  const messages: Json[] = []
  try {
    for await (const message of fetched) {
      if (isAcknowledged) await message.ackAck()
      messages.push(messageData(message, config))
      // What is there came at once; nobody waits for what may still come.
      if (messages.length >= batch || message.info.pending === 0) stop()
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
  signal.throwIfAborted()
  return { status: 'success', messages, count: messages.length, acked: isAcknowledged }
}

const getMessage: RunOperation = async ({ config, connection, packages }) => {
  const stream = needed(config, 'js_get_msg', 'stream')
  const sequence = integerField(config, 'seq', 1) ?? integerField(config, 'sequence', 1)
  const subject = textField(config, 'subject')
  if (sequence === null && subject === null) throw configFailure('js_get_msg needs `seq` or `subject`')
  const manager = await packages.jetstream.jetstreamManager(connection)
  const query = sequence === null ? { last_by_subj: subject ?? '' } : { seq: sequence }
  const message = await manager.streams.getMessage(stream, query)
  if (message === null) return { status: 'not_found', stream, data: null }
  return {
    status: 'success',
    stream,
    subject: message.subject,
    sequence: message.seq,
    data: readContent(message.data, encodingOf(config)),
    timestamp: message.timestamp,
    ...headerData(message.header),
  }
}

const streamInfo: RunOperation = async ({ config, connection, packages }) => {
  const stream = needed(config, 'js_stream_info', 'stream')
  const manager = await packages.jetstream.jetstreamManager(connection)
  const { config: settings, state, created } = await manager.streams.info(stream)
  return {
    status: 'success',
    stream,
    subjects: settings.subjects,
    messages: state.messages,
    bytes: state.bytes,
    first_sequence: state.first_seq,
    last_sequence: state.last_seq,
    consumer_count: state.consumer_count,
    created,
  }
}

export const messageOperations: Readonly<Record<string, RunOperation>> = {
  publish,
  request,
  js_publish: publishToStream,
  js_consume: consume,
  js_get_msg: getMessage,
  js_stream_info: streamInfo,
}
