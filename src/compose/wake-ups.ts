/**
 * How this server hears of the others and they of it.
 *
 * 1. Alone on an embedded database: wake-ups stay in the process. On a database of the user there may be others: they
 *    are told over it. With NATS they are told over NATS, and so is everybody else who listens there.
 * 2. What others are told is written with the events only when there is somebody to tell: NATS, or a publisher of the
 *    user (`NOETL_EVENT_MIRROR_ENABLED`).
 * 3. Neither NATS nor the channel of the database is needed for anything to finish.
 */
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { createMemoryDispatcher } from '../dispatch/memory.ts'
import type { Outlet } from '../dispatch/nats-outlet.ts'
import { createNatsOutlet } from '../dispatch/nats-outlet.ts'
import type { NatsLink } from '../dispatch/nats-link.ts'
import { openNatsLink } from '../dispatch/nats-link.ts'
import { createNatsDispatcher } from '../dispatch/nats.ts'
import { createPostgresDispatcher } from '../dispatch/postgres.ts'
import { SERVER_POOL, TIMER_POOL } from '../server/build-append.ts'
import type { Core, CoreOptions } from '../server/core.ts'
import { createOutboxKeeper } from '../server/outbox/keeper.ts'
import { createOutboxPublisher } from '../server/outbox/publisher.ts'
import { openChannel } from '../store/channel.ts'
import type { Log } from '../worker/log.ts'
import type { Undo } from './undo.ts'
import type { WakeUpSettings } from './wake-up-settings.ts'

export interface WakeUps {
  readonly dispatcher: Dispatcher
  /** What the core needs to know to write messages for the outside. */
  readonly coreOptions: Pick<CoreOptions, 'mirror'>
  /** Whether NATS can be reached now; null when it is not used. */
  readonly natsConnected: (() => boolean) | null
  /** Starts what tells others what the core does. */
  attach(core: Core): void
  /** The address under which this server listens. */
  listensAt(url: string): void
}

export interface WakeUpOptions {
  readonly settings: WakeUpSettings
  readonly embedded: boolean
  /** The first database, which all servers share. */
  readonly databaseUrl: string
  readonly log: Log
}

const CHANNEL = 'noetl_wake'

/** Timers are delivered by the server that set them; the others look now and then. */
const isLocal = (pool: string): boolean => pool === TIMER_POOL

export const openWakeUps = async (options: WakeUpOptions, undo: Undo[]): Promise<WakeUps> => {
  const { settings, log } = options
  const link = settings.natsUrl === null ? null : await openLink(settings.natsUrl, log, undo)
  const outlet = link && (await openOutlet(link, log, undo))
  const dispatcher = createDispatcher(link, options)
  undo.push({ what: 'waiting workers', run: () => dispatcher.close() })
  let ownUrl = 'http://127.0.0.1:8082'
  const tellsOthers = outlet !== null || settings.mirrorEvents
  const mirror = {
    serverUrl: () => settings.publicUrl ?? ownUrl,
    isLocal: (pool: string) => isLocal(pool) || pool === SERVER_POOL,
  }
  return {
    dispatcher,
    coreOptions: tellsOthers ? { mirror } : {},
    natsConnected: link && (() => link.connection() !== null),
    attach: (core) => {
      if (outlet) start(createOutboxPublisher(core, outlet), undo)
      if (tellsOthers) start(createOutboxKeeper(core), undo)
    },
    listensAt: (url) => {
      ownUrl = url
    },
  }
}

const start = (service: { start(): void; stop(): Promise<void> }, undo: Undo[]): void => {
  service.start()
  undo.push({ what: 'messages being published', run: () => service.stop() })
}

const createDispatcher = (
  link: NatsLink | null,
  { embedded, databaseUrl, log }: WakeUpOptions,
): Dispatcher => {
  if (link) return createNatsDispatcher(link, { isLocal })
  if (embedded) return createMemoryDispatcher()
  const onError = (error: unknown): void =>
    log.warn({ error }, 'other servers are not heard; work is looked for once a second until they are')
  return createPostgresDispatcher(
    (events) => openChannel({ url: databaseUrl, name: CHANNEL, events, onError }),
    { isLocal },
  )
}

const openLink = async (url: string, log: Log, undo: Undo[]): Promise<NatsLink> => {
  const link = await openNatsLink({
    url,
    onError: (error) => log.warn({ error }, 'NATS cannot be reached; everything goes on without it'),
  })
  undo.push({ what: 'the connection to NATS', run: () => link.close() })
  return link
}

const openOutlet = async (link: NatsLink, log: Log, undo: Undo[]): Promise<Outlet> => {
  const outlet = await createNatsOutlet(link, {
    onError: (error) => log.warn({ error }, 'NATS takes no messages; they wait in the database'),
  })
  undo.push({ what: 'the way to NATS', run: async () => outlet.close() })
  return outlet
}
