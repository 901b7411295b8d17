/**
 * Wake-ups over NATS.
 *
 * 1. Servers tell each other on a subject of their own, which no stream keeps: hints are worth nothing later.
 * 2. Notifications of commands, which the outbox publishes to JetStream for workers elsewhere, wake the workers of their
 *    pool here, too, whoever published them.
 */
import type { Msg } from '@nats-io/transport-node'
import type { BroadcastOptions, OpenCarrier } from './broadcast.ts'
import { createBroadcastDispatcher } from './broadcast.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { NatsLink } from './nats-link.ts'

const WAKE_SUBJECT = 'noetl.wake'
const COMMAND_SUBJECTS = 'noetl.commands.*.*'
/** What every server of NATS takes. */
const MAX_BYTES = 60_000

/** The link stays open when the dispatcher closes; whoever opened it closes it. */
export const createNatsDispatcher = (link: NatsLink, options: BroadcastOptions = {}): Dispatcher => {
  const open: OpenCarrier = (events) => {
    let subscribed: object | null = null

    const follow = link.onStatus((connection) => {
      if (!connection) return events.disconnected()
      // A connection that came back has kept its subscriptions.
      if (subscribed !== connection) {
        subscribed = connection
        connection.subscribe(WAKE_SUBJECT, {
          callback: (error, message: Msg) => {
            if (!error) events.received(message.string())
          },
        })
        connection.subscribe(COMMAND_SUBJECTS, {
          callback: (error, message: Msg) => {
            if (!error) events.woken(message.subject.split('.')[2] ?? '')
          },
        })
      }
      // Only when the server knows the subscriptions can nothing be missed any more.
      connection.flush().then(
        () => {
          if (link.connection() === connection) events.connected()
        },
        () => undefined,
      )
      return undefined
    })

    return {
      maxBytes: MAX_BYTES,
      send: async (text) => {
        const connection = link.connection()
        if (!connection) throw new Error('not connected to NATS')
        connection.publish(WAKE_SUBJECT, text)
      },
      close: async () => follow(),
    }
  }
  return createBroadcastDispatcher(open, options)
}
