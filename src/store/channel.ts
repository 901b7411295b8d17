/**
 * A connection of its own that listens on a channel of the database and sends into it.
 *
 * 1. It comes back by itself, sooner after a short interruption, later after a long one, and says so both times.
 * 2. A connection that is dead without saying so is found by a question now and then.
 * 3. Sending is no durable change: it waits for no disk.
 */
import { Client } from 'pg'

export interface ChannelOptions {
  readonly url: string
  /** Letters and underscores. */
  readonly name: string
  readonly events: {
    received(text: string): void
    connected(): void
    disconnected(): void
  }
  /** Told why it is not connected. */
  readonly onError: (error: unknown) => void
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000
const PING_MS = 15_000
const ANSWER_MS = 10_000

export const openChannel = ({ url, name, events, onError }: ChannelOptions) => {
  let client: Client | null = null
  let closed = false
  let failures = 0
  let timer: NodeJS.Timeout | null = null

  const createConnection = (): Client =>
    new Client({
      connectionString: url,
      application_name: `noetl ${name}`,
      options: '-c synchronous_commit=off',
      keepAlive: true,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
    })

  const lose = (lost: Client, error: unknown): void => {
    // Both the error and the end of a connection are told; one of them is enough.
    if (lost !== client) return
    client = null
    if (timer) clearTimeout(timer)
    if (closed) return
    onError(error)
    events.disconnected()
    void lost.end().catch(() => undefined)
    retry()
  }

  const retry = (): void => {
    if (closed) return
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + Math.random() / 2)
    failures += 1
    timer = setTimeout(() => void connect(), pause)
  }

  const ping = (current: Client): void => {
    timer = setTimeout(() => {
      current.query('select 1').then(
        () => {
          if (current === client) ping(current)
        },
        (error: unknown) => lose(current, error),
      )
    }, PING_MS)
    timer.unref()
  }

  const connect = async (): Promise<void> => {
    const fresh = createConnection()
    fresh.on('error', (error) => lose(fresh, error))
    fresh.on('end', () => lose(fresh, new Error('the connection ended')))
    fresh.on('notification', ({ payload }) => {
      if (payload !== undefined && !closed) events.received(payload)
    })
    try {
      await fresh.connect()
      await fresh.query(`listen ${name}`)
    } catch (error) {
      void fresh.end().catch(() => undefined)
      if (!closed) onError(error)
      return retry()
    }
    if (closed) return void fresh.end().catch(() => undefined)
    client = fresh
    failures = 0
    ping(fresh)
    events.connected()
  }

  void connect()

  return {
    send: async (text: string): Promise<void> => {
      const current = client
      if (!current) throw new Error('the channel is not connected')
      await current
        .query({ name: 'notify', text: `select pg_notify('${name}', $1)`, values: [text] })
        .catch((error: unknown) => {
          lose(current, error)
          throw error
        })
    },
    close: async (): Promise<void> => {
      closed = true
      if (timer) clearTimeout(timer)
      const last = client
      client = null
      await last?.end().catch(() => undefined)
    },
  }
}
