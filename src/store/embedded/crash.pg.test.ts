/** What happens when the process that started the server, the server, or both end in ways nobody planned. */
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  FAST_SETTINGS,
  listProcesses,
  processesOn,
  query,
  spawnPostgresChild,
  type PostgresChild,
} from '../../../test/support/embedded-postgres.ts'
import { fastDirectory } from '../../../test/support/fast-directory.ts'
import { startEmbeddedPostgres } from './start.ts'

let prepared: string
let dataDir: string
let child: PostgresChild | undefined

beforeAll(async () => {
  prepared = mkdtempSync(join(fastDirectory(), 'noetl-crash-'))
  const postgres = await startEmbeddedPostgres({ dataDir: prepared, settings: FAST_SETTINGS })
  await postgres.stop()
})
afterAll(() => rmSync(prepared, { recursive: true }))

beforeEach(() => {
  dataDir = mkdtempSync(join(fastDirectory(), 'noetl-crash-'))
})
afterEach(async () => {
  child?.process.kill('SIGKILL')
  await child?.ended
  child = undefined
  await untilNoProcess()
  rmSync(dataDir, { recursive: true, force: true })
})

const useExistingCluster = (): void => cpSync(prepared, dataDir, { recursive: true })

const untilNoProcess = (): Promise<void> => expect.poll(() => processesOn(dataDir)).toEqual([])

async function startChild(
  options: { temporary?: boolean; exitAfterStart?: boolean; dataDir?: string } = {},
): Promise<{ pid: number; url: string }> {
  child = spawnPostgresChild({ dataDir, settings: FAST_SETTINGS, ...options })
  return (await child.nextLine()) as { pid: number; url: string }
}

async function killChild(): Promise<void> {
  child?.process.kill('SIGKILL')
  await child?.ended
}

async function expectNextStartWorks(): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS })
  try {
    expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }])
  } finally {
    await postgres.stop()
  }
}

test('a server ends soon after the process that started it was killed', async () => {
  useExistingCluster()
  await startChild()
  expect(processesOn(dataDir).length).toBeGreaterThan(0)
  await killChild()
  await untilNoProcess()
  await expectNextStartWorks()
})

test('a start right after the kill waits for the earlier server and finds its data', async () => {
  useExistingCluster()
  const { url } = await startChild()
  await query(url, 'create table kept as select 7 as value')
  await killChild()
  const postgres = await startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS })
  expect(await query(postgres.url, 'select value from kept')).toEqual([{ value: 7 }])
  await postgres.stop()
})

test.each([100, 250, 400, 700])(
  'a process killed %i ms into its first start does not hinder the next',
  async (delayMs) => {
    child = spawnPostgresChild({ dataDir, settings: FAST_SETTINGS })
    await sleep(delayMs)
    await killChild()
    await expectNextStartWorks()
  },
)

test.each([100, 130, 160, 190, 220])(
  'a process killed %i ms into a later start does not hinder the next',
  async (delayMs) => {
    useExistingCluster()
    child = spawnPostgresChild({ dataDir, settings: FAST_SETTINGS })
    await sleep(delayMs)
    await killChild()
    await expectNextStartWorks()
  },
)

test('a server whose guard was killed as well is stopped by the next start', async () => {
  useExistingCluster()
  const { pid } = await startChild()
  const guard = listProcesses().find((listed) => listed.pid === pid)?.parent
  const watchers = (): number[] =>
    listProcesses()
      .filter((listed) => listed.parent === guard && listed.pid !== pid)
      .map((watcher) => watcher.pid)
  await expect.poll(watchers).toHaveLength(1)
  for (const victim of [...watchers(), guard]) process.kill(Number(victim), 'SIGKILL')
  await killChild()
  await sleep(100)
  expect(processesOn(dataDir).map((listed) => listed.pid)).toContain(pid)
  const lines: string[] = []
  const next = await startEmbeddedPostgres({
    dataDir,
    settings: FAST_SETTINGS,
    log: (line) => lines.push(line),
  })
  expect(lines).toEqual([`Stopping PostgreSQL (process ${pid}), left over from an earlier start`])
  await next.stop()
})

test('a server that was killed itself is reported, and the next start recovers its data', async () => {
  useExistingCluster()
  const lines: string[] = []
  const first = await startEmbeddedPostgres({
    dataDir,
    settings: FAST_SETTINGS,
    log: (line) => lines.push(line),
  })
  await query(first.url, 'create table kept as select 7 as value')
  process.kill(first.pid, 'SIGKILL')
  await expect
    .poll(() => lines)
    .toEqual([expect.stringContaining('PostgreSQL ended unexpectedly with status 137')])
  await first.stop()
  const second = await startEmbeddedPostgres({ dataDir, settings: FAST_SETTINGS })
  expect(await query(second.url, 'select value from kept')).toEqual([{ value: 7 }])
  await second.stop()
})

test('a leftover pid file that names an unrelated process is not believed', async () => {
  useExistingCluster()
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${process.pid}\n${dataDir}/postgres\n1\n5432\n`)
  await expectNextStartWorks()
})

test('Ctrl-C reaches the process that started the server and not the server', async () => {
  useExistingCluster()
  await startChild()
  process.kill(-Number(child?.process.pid), 'SIGINT')
  expect(await child?.nextLine()).toEqual({ answer: 42 })
  await child?.ended
  expect(processesOn(dataDir)).toEqual([])
})

test('a process with nothing left to do ends, and its server with it', async () => {
  useExistingCluster()
  await startChild({ exitAfterStart: true })
  await child?.ended
  expect(child?.process.exitCode).toBe(0)
  await untilNoProcess()
})

test('a temporary directory goes with a process that was killed', async () => {
  useExistingCluster()
  await startChild({ temporary: true })
  await killChild()
  await untilNoProcess()
  expect(existsSync(dataDir)).toBe(false)
})

test('a temporary directory goes with a process that was killed while creating it', async () => {
  child = spawnPostgresChild({ dataDir, settings: FAST_SETTINGS, temporary: true })
  while (processesOn(join(dataDir, 'postgres.tmp')).length === 0) await sleep(5)
  await killChild()
  await untilNoProcess()
  expect(existsSync(dataDir)).toBe(false)
})

test('a socket directory outside the data directory goes with a process that was killed', async () => {
  const long = join(dataDir, 'x'.repeat(100))
  const { url } = await startChild({ dataDir: long })
  const socketDir = decodeURIComponent(new URL(url).hostname)
  expect(existsSync(socketDir)).toBe(true)
  await killChild()
  await untilNoProcess()
  expect(existsSync(socketDir)).toBe(false)
})
