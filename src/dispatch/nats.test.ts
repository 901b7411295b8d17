import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NatsServer } from '../../test/support/nats-server.ts'
import { startNatsServer } from '../../test/support/nats-server.ts'
import { sharedDispatcherSuite, untilHearing } from './dispatcher.suite.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { NatsLink } from './nats-link.ts'
import { connectionOptions, openNatsLink } from './nats-link.ts'
import { createNatsDispatcher } from './nats.ts'

let server: NatsServer

beforeAll(async () => {
  server = await startNatsServer()
})
afterAll(() => server.stop())

const openLink = (url: string): Promise<NatsLink> => openNatsLink({ url, onError: () => undefined })

/** Closes its link, too. */
const createDispatcher = async (url: string): Promise<Dispatcher> => {
  const link = await openLink(url)
  const dispatcher = createNatsDispatcher(link)
  return {
    ...dispatcher,
    close: async () => {
      await dispatcher.close()
      await link.close()
    },
  }
}

sharedDispatcherSuite('nats', {
  create: async () => {
    const dispatcher = await createDispatcher(server.url)
    await untilHearing(dispatcher)
    return dispatcher
  },
  interrupt: () => server.restart(),
})

describe('a nats dispatcher', () => {
  test('is woken by the notification of a command, whoever publishes it', async () => {
    const link = await openLink(server.url)
    const dispatcher = createNatsDispatcher(link)
    await untilHearing(dispatcher)
    const wait = dispatcher.wait('gpu', 20_000, new AbortController().signal)
    link.connection()?.publish('noetl.commands.gpu.320816801799737344', '{}')
    await wait
    await dispatcher.close()
    await link.close()
  })

  test('without a server wakes its own process, and closes', async () => {
    const dispatcher = await createDispatcher('nats://127.0.0.1:1')
    const wait = dispatcher.wait('shared', 20_000, new AbortController().signal)
    dispatcher.notify('shared')
    await wait
    expect(dispatcher.hearsOthers()).toBe(false)
    await dispatcher.close()
  })
})

describe('the address of NATS', () => {
  test.each([
    ['nats://host:4222', { servers: ['host:4222'] }],
    ['host', { servers: ['host'] }],
    ['nats://me:p%40ss@host:4222', { servers: ['host:4222'], user: 'me', pass: 'p@ss' }],
    ['nats://tok@a:1,nats://tok@b:2', { servers: ['a:1', 'b:2'], token: 'tok' }],
    ['tls://a', { servers: ['tls://a'] }],
  ])('%s is taken apart', (url, expected) => {
    expect(connectionOptions(url)).toMatchObject(expected)
  })

  test('that is none is refused without showing it', () => {
    expect(() => connectionOptions('nats://me:secret@:x')).toThrow('NOETL_NATS_URL is not an address')
  })
})
