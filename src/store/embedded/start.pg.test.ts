import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  FAST_SETTINGS,
  processesOn,
  query,
  spawnPostgresChild,
} from '../../../test/support/embedded-postgres.ts'
import { fastDirectory } from '../../../test/support/fast-directory.ts'
import { ProblemError } from '../../contract/problem.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './start.ts'

const SYSTEM_BIN = '/usr/lib/postgresql/15/bin'

let prepared: string
let dataDir: string
const started: EmbeddedPostgres[] = []

beforeAll(async () => {
  prepared = mkdtempSync(join(fastDirectory(), 'noetl-start-'))
  const postgres = await startEmbeddedPostgres({ dataDir: prepared, settings: FAST_SETTINGS })
  await postgres.stop()
})
afterAll(() => rmSync(prepared, { recursive: true }))

beforeEach(() => {
  dataDir = mkdtempSync(join(fastDirectory(), 'noetl-start-'))
})
afterEach(async () => {
  for (const postgres of started.splice(0)) await postgres.stop()
  expect(processesOn(dataDir)).toEqual([])
  rmSync(dataDir, { recursive: true, force: true })
})

/** Spares a test the creation of a cluster. */
const useExistingCluster = (): void => cpSync(prepared, dataDir, { recursive: true })

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS, ...options })
  started.push(postgres)
  return postgres
}

async function problemOf(promise: Promise<unknown>): Promise<ProblemError> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(ProblemError)
  return outcome as ProblemError
}

test('data of an earlier start is found again by the next', async () => {
  const lines: string[] = []
  const first = await start({ log: (line) => lines.push(line) })
  expect(lines).toEqual([expect.stringMatching(/^Created a PostgreSQL 18\.\d+ database in /)])
  await query(first.url, 'create table kept as select 7 as value')
  await first.stop()
  expect(processesOn(dataDir)).toEqual([])
  expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.log', 'socket'])
  const second = await start({ log: (line) => lines.push(line) })
  expect(await query(second.url, 'select value from kept')).toEqual([{ value: 7 }])
  expect(lines).toHaveLength(1)
})

test('the server is durable, in UTC, and not on the network (4)', async () => {
  const postgres = await start({ settings: {} })
  const names = [
    'fsync',
    'synchronous_commit',
    'full_page_writes',
    'timezone',
    'listen_addresses',
    'data_checksums',
  ]
  const rows = await query(
    postgres.url,
    `select ${names.map((name) => `current_setting('${name}') as ${name}`).join()}`,
  )
  expect(rows).toEqual([
    {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      timezone: 'UTC',
      listen_addresses: '',
      data_checksums: 'on',
    },
  ])
  expect(statSync(postgres.connection.host).mode & 0o077).toBe(0)
  expect(await query(postgres.url, "select lower('ÄÖ') as text")).toEqual([{ text: 'äö' }])
})

test('a second start on the same directory is refused with the process that has it (1)', async () => {
  useExistingCluster()
  const first = await start()
  const problem = await problemOf(start())
  expect(problem.code).toBe('conflict')
  expect(problem.message).toContain(`Data directory ${dataDir} is in use by process ${process.pid} (started `)
  expect(await query(first.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await first.stop()
  await start()
})

test('stopping twice is stopping once', async () => {
  useExistingCluster()
  const postgres = await start()
  await Promise.all([postgres.stop(), postgres.stop()])
  const successor = await start()
  await postgres.stop()
  expect(await query(successor.url, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('stopping does not wait for clients that are still connected', async () => {
  useExistingCluster()
  const postgres = await start()
  const client = new Client({ connectionString: postgres.url })
  const disconnected = new Promise((resolve) => client.on('error', resolve))
  await client.connect()
  await client.query('begin')
  await postgres.stop()
  expect(await disconnected).toBeInstanceOf(Error)
})

test('data of another major version is refused with both versions and the way out', async () => {
  mkdirSync(join(dataDir, 'postgres'))
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '14\n')
  const problem = await problemOf(start())
  expect(problem.message).toMatch(
    /was written by PostgreSQL 14, but the server found is PostgreSQL 18\.\d+ \(.*NOETL_PG_BIN/,
  )
  expect(existsSync(join(dataDir, 'noetl.pid'))).toBe(false)
})

test('a directory of somebody else is not touched', async () => {
  mkdirSync(join(dataDir, 'postgres'))
  writeFileSync(join(dataDir, 'postgres', 'letter.txt'), 'hello')
  expect((await problemOf(start())).message).toContain('exists but holds no PostgreSQL data')
  expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'postgres.log'])
})

test('a server that does not start is reported with its own words, and the directory is free again (3)', async () => {
  useExistingCluster()
  const problem = await problemOf(start({ settings: { ...FAST_SETTINGS, work_mem: 'plenty' } }))
  expect(problem.code).toBe('unavailable')
  expect(problem.message).toMatch(
    /PostgreSQL did not start .*\n.*invalid value for parameter "work_mem": "plenty"/s,
  )
  await start()
})

test('what an interrupted creation left behind is removed', async () => {
  mkdirSync(join(dataDir, 'postgres.tmp.1234'))
  writeFileSync(join(dataDir, 'postgres.tmp.1234', 'PG_VERSION'), '18\n')
  await start()
  expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres.tmp'))).toEqual([])
})

test('a very long path works, and its socket directory goes with the server', async () => {
  const long = join(dataDir, 'a path, with "quotes" '.repeat(6))
  const postgres = await start({ dataDir: long })
  expect(postgres.connection.host.startsWith(dataDir)).toBe(false)
  expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
  await postgres.stop()
  expect(existsSync(postgres.connection.host)).toBe(false)
})

test('a temporary directory goes with the server', async () => {
  useExistingCluster()
  const postgres = await start({ temporary: true })
  await postgres.stop()
  expect(existsSync(dataDir)).toBe(false)
})

test.skipIf(!existsSync(SYSTEM_BIN))('an older PostgreSQL that is asked for is used', async () => {
  const postgres = await start({ binDir: SYSTEM_BIN })
  expect(await query(postgres.url, "select current_setting('server_version') like '15.%' as old")).toEqual([
    { old: true },
  ])
  await postgres.stop()
  expect((await problemOf(start())).message).toContain('was written by PostgreSQL 15')
})

test.runIf(process.getuid?.() === 0)('root runs the data of a user as that user', async () => {
  const user = 65_534
  mkdirSync(join(dataDir, 'postgres'))
  chownSync(join(dataDir, 'postgres'), user, user)
  const postgres = await start()
  expect(await query(postgres.url, 'create table t as select 1 as one')).toEqual([])
  const owners = ['postgres', 'postgres/PG_VERSION', 'postgres.log', 'socket'].map(
    (name) => statSync(join(dataDir, name)).uid,
  )
  expect(owners).toEqual([user, user, user, user])
  await postgres.stop()
  expect(await query((await start()).url, 'select one from t')).toEqual([{ one: 1 }])
})

test.runIf(process.getuid?.() === 0)('root manages where user namespaces are forbidden', async () => {
  useExistingCluster()
  const programs = join(dataDir, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const path = `${programs}:${process.env['PATH']}`
  const child = spawnPostgresChild({ dataDir, settings: FAST_SETTINGS }, { PATH: path })
  const { url } = (await child.nextLine()) as { url: string }
  expect(await query(url, 'create table t as select 1 as one')).toEqual([])
  expect(statSync(join(dataDir, 'postgres', 'PG_VERSION')).uid).toBe(65_534)
  child.process.kill('SIGINT')
  await child.ended
  // From here on the data belongs to that user, also where namespaces are allowed.
  expect(await query((await start()).url, 'select one from t')).toEqual([{ one: 1 }])
})

test('a start that is given up while it makes its data leaves nothing, and the next one works (3, 5)', async () => {
  const controller = new AbortController()
  const reason = new Error('given up')
  const starting = startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS, signal: controller.signal })
  const refused = expect(starting).rejects.toBe(reason)
  await vi.waitFor(() => expect(processesOn(join(dataDir, 'postgres.tmp'))).not.toEqual([]), 10_000)
  controller.abort(reason)
  await refused
  expect(
    readdirSync(dataDir).filter((name) => name.startsWith('postgres') && name !== 'postgres.log'),
  ).toEqual([])
  await start()
})

test('a start that was given up before it began starts nothing (5)', async () => {
  useExistingCluster()
  const signal = AbortSignal.abort()
  await expect(start({ signal })).rejects.toBe(signal.reason)
  expect(existsSync(join(dataDir, 'noetl.pid'))).toBe(false)
})

test('a start that is given up while the server gets ready ends it (3, 5)', async () => {
  useExistingCluster()
  const controller = new AbortController()
  const reason = new Error('given up')
  const starting = startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS, signal: controller.signal })
  const refused = expect(starting).rejects.toBe(reason)
  await vi.waitFor(() => expect(processesOn(dataDir)).not.toEqual([]), { timeout: 10_000, interval: 1 })
  controller.abort(reason)
  await refused
  expect(processesOn(dataDir)).toEqual([])
  expect(existsSync(join(dataDir, 'noetl.pid'))).toBe(false)
})
