import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../client/client.ts'
import { untilHearing } from '../dispatch/dispatcher.suite.ts'
import { openDatabase } from '../store/database.ts'
import { parseShardList } from '../store/shards.ts'
import { silentLog } from '../worker/log.ts'
import type { NatsServer } from '../../test/support/nats-server.ts'
import { startNatsServer } from '../../test/support/nats-server.ts'
import { chain } from '../../test/support/playbooks.ts'
import type { TestDatabase } from '../../test/support/postgres.ts'
import { createTestDatabase } from '../../test/support/postgres.ts'
import { readSettings } from './settings.ts'
import type { Stack } from './stack.ts'
import { startStack } from './stack.ts'
import type { Undo } from './undo.ts'
import { stopAll } from './undo.ts'
import { readWakeUpSettings } from './wake-up-settings.ts'
import { openWakeUps } from './wake-ups.ts'

let database: TestDatabase
let undo: Undo[]
beforeEach(async () => {
  database = await createTestDatabase()
  undo = []
})
afterEach(async () => {
  await stopAll(undo, silentLog)
  await database.drop()
})

const open = (env: Record<string, string>, embedded = false) =>
  openWakeUps(
    { settings: readWakeUpSettings(env), embedded, databaseUrl: database.url, log: silentLog },
    undo,
  )

/** Connections that listen on the database. */
const activity = async () => {
  const client = openDatabase({ url: database.url, maxConnections: 1, onError: () => undefined })
  try {
    return await client.query(
      "select 1 from pg_stat_activity where application_name like 'noetl noetl_wake' and datname = current_database()",
    )
  } finally {
    await client.end()
  }
}

describe('wake-ups', () => {
  test('stay in the process that is alone on its database, and cost it nothing (1, 2)', async () => {
    const { coreOptions, natsConnected } = await open({}, true)
    expect(coreOptions).toEqual({})
    expect(natsConnected).toBeNull()
    const { rows } = await activity()
    expect(rows).toEqual([])
  })

  test('reach other servers on a database of the user, without being told to (1)', async () => {
    const [a, b] = [await open({}), await open({})]
    await Promise.all([untilHearing(a.dispatcher), untilHearing(b.dispatcher)])
    const woken = b.dispatcher.wait('shared', 20_000, new AbortController().signal)
    a.dispatcher.notify('shared')
    await woken
    expect(a.coreOptions).toEqual({})
    expect((await activity()).rows).toHaveLength(2)
  })

  test('are written for others when that is switched on, with the address others know (2)', async () => {
    const own = await open({ NOETL_EVENT_MIRROR_ENABLED: 'true' }, true)
    own.listensAt('http://127.0.0.1:9999')
    expect(own.coreOptions.mirror?.serverUrl()).toBe('http://127.0.0.1:9999')
    expect(own.coreOptions.mirror?.isLocal('noetl.server')).toBe(true)
    expect(own.coreOptions.mirror?.isLocal('shared')).toBe(false)
    const given = await open(
      { NOETL_EVENT_MIRROR_ENABLED: '1', NOETL_PUBLIC_SERVER_URL: 'https://noetl.example' },
      true,
    )
    given.listensAt('http://127.0.0.1:9999')
    expect(given.coreOptions.mirror?.serverUrl()).toBe('https://noetl.example')
  })

  test('do not need NATS to be there (3)', async () => {
    const { dispatcher, coreOptions, natsConnected } = await open(
      { NOETL_NATS_URL: 'nats://127.0.0.1:1' },
      true,
    )
    expect(natsConnected?.()).toBe(false)
    expect(dispatcher.hearsOthers()).toBe(false)
    expect(coreOptions.mirror).toBeDefined()
  })

  test('refuse an address that is none, and do not show it', async () => {
    await expect(open({ NOETL_NATS_URL: 'nats://me:secret@:x' })).rejects.toThrow(
      'NOETL_NATS_URL is not an address such as nats://host:4222',
    )
  })
})

describe('servers of a cluster', () => {
  let nats: NatsServer | null = null
  let directory: string
  const stacks: Stack[] = []
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'noetl-cluster-'))
  })
  afterEach(async () => {
    for (const stack of stacks.splice(0)) await stack.stop()
    await nats?.stop()
    nats = null
    rmSync(directory, { recursive: true, force: true })
  })

  const start = async (machineId: number, env: Record<string, string>): Promise<Stack> => {
    const given = {
      NOETL_DATABASE_URL: database.url,
      NOETL_EXAMPLES: 'false',
      NOETL_SERVER_MACHINE_ID: String(machineId),
      ...env,
    }
    const settings = readSettings({ port: '0', dataDir: directory }, given, parseShardList)
    const stack = await startStack({ ...settings, version: 'test', log: silentLog, toolEnv: {} })
    stacks.push(stack)
    return stack
  }

  test.each(['PostgreSQL', 'NATS'])('share the work over %s', async (carrier) => {
    if (carrier === 'NATS') nats = await startNatsServer()
    const env: Record<string, string> = nats ? { NOETL_NATS_URL: nats.url } : {}
    const front = await start(1, { ...env, NOETL_SLOTS: '0' })
    const back = await start(2, { ...env, NOETL_SLOTS: '4' })
    await Promise.all([untilHearing(front.core.dispatcher), untilHearing(back.core.dispatcher)])
    const health = (await (await fetch(`${front.url}/api/health`)).json()) as { nats: string }
    expect(health.nats).toBe(nats ? 'connected' : 'not_configured')
    const client = createClient(front.url, front.access)
    await client.register(chain('tests/cluster', 10))
    const { execution_id: id } = await client.execute({ path: 'tests/cluster' })
    for await (const followed of client.follow(id))
      if (followed.type === 'end') expect(followed.end.status).toBe('COMPLETED')
  })
})
