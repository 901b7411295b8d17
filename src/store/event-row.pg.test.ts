import { expect, test } from 'vitest'
import type { EventRecord } from '../contract/event.ts'
import { aNewCommand, anAppend, nextTestId } from '../../test/support/appends.ts'
import { useDatabase } from '../../test/support/database.ts'
import { testSealer as sealer } from '../../test/support/server.ts'
import { createSealer } from '../lib/sealer.ts'
import { createAppender } from './appender.ts'
import { readEvents } from './events.ts'
import { writeSnapshot } from './snapshots.ts'

const database = useDatabase()

/** Writes events and reads them back, as the fold sees them and as everybody else does. */
const roundTrip = async (...events: Partial<EventRecord>[]) => {
  const id = nextTestId()
  const append = anAppend(id, 0, events)
  await createAppender({ database: database(), sealer }).append(append)
  return {
    id,
    written: append.events,
    opened: await readEvents(database(), id, { sealer }),
    shown: await readEvents(database(), id),
  }
}

/** Every value of every table as text. */
const everything = async (): Promise<string> => {
  const { rows: tables } = await database().query<{ name: string }>(
    "select table_schema || '.' || table_name as name from information_schema.tables where table_schema = 'noetl'",
  )
  const texts = await Promise.all(
    tables.map(async ({ name }) =>
      JSON.stringify((await database().query(`select t::text from ${name} t`)).rows),
    ),
  )
  return texts.join('\n')
}

test('an event comes back as it was written (rule 3)', async () => {
  const { written, opened, shown } = await roundTrip({
    eventType: 'command.completed',
    nodeType: 'noop',
    status: 'COMPLETED',
    parentEventId: '320816801799737344',
    workerId: 'w1',
    durationMs: 1.25,
    context: { b: [1, 'two', { c: null }], a: true },
    result: { status: 'COMPLETED', context: { x: 1 }, reference: { ref: 'y' } },
    meta: { command_id: 'c', n: 0 },
    error: 'none',
  })
  expect(opened).toEqual(written)
  expect(shown).toEqual(written)
})

test('the order of keys is kept', async () => {
  const { opened } = await roundTrip({ context: { zebra: 1, apple: { y: 1, x: 2 }, mango: [] } })
  expect(JSON.stringify(opened[0]?.context)).toBe('{"zebra":1,"apple":{"y":1,"x":2},"mango":[]}')
})

test('large integers stay text and large doubles stay numbers', async () => {
  const context = {
    id: '9223372036854775807',
    safe: 9007199254740991,
    big: 1e16,
    huge: -1.2345678901234567e300,
    list: [1e17, 12345678901234567000],
  }
  const { opened } = await roundTrip({ context, meta: { text: ':12345678901234567,' } })
  expect(opened[0]?.context).toEqual(context)
})

test('NUL and lone surrogates are replaced where people look, and kept for the fold (rule 2)', async () => {
  const { written, opened, shown } = await roundTrip(
    { nodeName: 'a\0b', context: { 'k\0': ['\ud800x', 'fine 😀'] }, error: 'nul \0' },
    { context: { plain: '\\u0000' } },
  )
  expect(opened).toEqual(written)
  expect(shown[0]).toMatchObject({
    nodeName: 'a\uFFFDb',
    context: { 'k\uFFFD': ['\uFFFDx', 'fine 😀'] },
    error: 'nul \uFFFD',
  })
  expect(shown[1]?.context).toEqual({ plain: '\\u0000' })
})

test('secrets are nowhere in clear, and only the sealer shows them (rule 1)', async () => {
  const secret = 'sw0rdfish-7Q'
  const jwt = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl`
  const { id, written, opened, shown } = await roundTrip({
    context: { workload: { db: { password: secret, host: 'h' } } },
    result: {
      status: 'COMPLETED',
      context: {
        data: {
          access_token: secret,
          items: [{ headers: { Authorization: `Bearer ${secret}` } }],
          note: jwt,
        },
      },
      reference: { api_key: secret },
    },
    meta: { 'X-Api-Key': secret, kept: 'yes' },
    error: `Bearer ${secret}`,
  })
  const appender = createAppender({ database: database(), sealer })
  await appender.append(
    anAppend(id, 1, [{}], {
      execution: { status: 'FAILED', error: `Bearer ${secret}` },
      commands: [aNewCommand(id)],
    }),
  )
  await writeSnapshot(database(), id, {
    position: 1,
    state: sealer.seal(JSON.stringify({ password: secret })),
  })

  const rows = await everything()
  expect(rows).toContain(id)
  for (const hidden of [
    secret,
    jwt,
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64'),
  ]) {
    expect(rows).not.toContain(hidden)
  }
  expect(opened).toEqual(written)
  expect(shown[0]).toMatchObject({
    context: { workload: { db: { password: '[REDACTED]', host: 'h' } } },
    result: {
      context: {
        data: {
          access_token: '[REDACTED]',
          items: [{ headers: { Authorization: '[REDACTED]' } }],
          note: '[REDACTED]',
        },
      },
      reference: { api_key: '[REDACTED]' },
    },
    meta: { 'X-Api-Key': '[REDACTED]', kept: 'yes' },
    error: '[REDACTED]',
  })
})

test('another key opens nothing', async () => {
  const { id } = await roundTrip({ context: { password: 'x' } })
  await expect(readEvents(database(), id, { sealer: createSealer(Buffer.alloc(32, 8)) })).rejects.toThrow(
    /authenticate/,
  )
})
