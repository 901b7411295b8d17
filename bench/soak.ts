/**
 * Everything at once, for as long as one likes: servers, workers and PostgreSQL are killed, frozen and cut off while clients use
 * them; then the faults stop, and what was promised has to be true. `node bench/soak.ts --minutes 5 --seed 1`.
 *
 * 1. It ends by itself: exit code 0 when everything held, 1 with a line for each thing that did not.
 * 2. It ends what it started, also when it is interrupted. The logs of the processes are kept when something was found.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Pool } from 'pg'
import { ownPort } from '../test/support/own-port.ts'
import { createApi } from './soak/api.ts'
import { createClients } from './soak/clients.ts'
import { watchLeases } from './soak/logs.ts'
import { listenForEffects } from './soak/effects.ts'
import { createFaults } from './soak/faults.ts'
import { createListeners } from './soak/listeners.ts'
import { startMeddler } from './soak/meddler.ts'
import { SOAK_PLAYBOOKS } from './soak/playbooks.ts'
import { startProcesses } from './soak/processes.ts'
import { createChance } from './soak/random.ts'
import { findProblems, OPEN_TIMER } from './soak/verdict.ts'

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    minutes: { type: 'string', default: '3' },
    servers: { type: 'string', default: '2' },
    workers: { type: 'string', default: '3' },
    'in-flight': { type: 'string', default: '20' },
    /** Without faults: whether the soak itself is right. */
    calm: { type: 'boolean', default: false },
  },
})
const LEASE_SECONDS = 3
const SETTLE_MS = 150_000
const seed = Number(flags.seed)
const directory = mkdtempSync(join(tmpdir(), 'noetl-soak-'))
const began = performance.now()
const say = (text: string): void =>
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)}  ${text}`)

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130))
process.on('unhandledRejection', (error) => {
  console.error(error)
  process.exit(2)
})

say(`seed ${seed}, ${flags.minutes} minutes, in ${directory}`)
const processes = await startProcesses(directory, (name, code) => {
  say(`${name} ended by itself with ${code}`)
  revive(name)
})
const database = new Pool({ connectionString: processes.databaseUrl, max: 6, application_name: 'soak' })
// Connections are cut on purpose.
database.on('error', () => undefined)

const ports = await Promise.all(Array.from({ length: Number(flags.servers) }, ownPort))
const urls = ports.map((port) => `http://127.0.0.1:${port}`)
const key = Buffer.alloc(32, 7).toString('base64')
const servers = ports.map((port, index) =>
  processes.unit(
    `server-${index}`,
    [
      'up',
      '--port',
      String(port),
      '--slots',
      '0',
      '--no-examples',
      '--data-dir',
      join(directory, `server-${index}`),
    ],
    {
      env: {
        NOETL_DATABASE_URL: processes.databaseUrl,
        NOETL_LEASE_SECONDS: String(LEASE_SECONDS),
        NOETL_ENCRYPTION_KEY: key,
        NOETL_STATE_CACHE_MB: index === 0 ? '1' : '64',
        NOETL_GRACE_SECONDS: '1',
      },
      isReady: async () =>
        (await fetch(`${urls[index]}/api/health`, { signal: AbortSignal.timeout(2000) })).ok,
    },
  ),
)
const meddler = await startMeddler(() => ports, createChance(seed + 1))
const workers = Array.from({ length: Number(flags.workers) }, (_, index) =>
  processes.unit(`worker-${index}`, ['worker', '--server', meddler.url, '--slots', '8', '--grace', '1'], {
    env: { NOETL_DATA_DIR: join(directory, `worker-${index}`) },
  }),
)

const revive = (name: string): void => {
  const unit = [...servers, ...workers].find((each) => each.name === name)
  void sleep(1000).then(() => unit?.start())
}

// One after the other: the first one makes the tables.
for (const unit of [...servers, ...workers]) await unit.start()
const api = createApi(urls, createChance(seed + 2))
for (const { content } of SOAK_PLAYBOOKS) {
  const { status, body } = await api.insist('POST', '/api/catalog/register', { body: { content } })
  if (status !== 200) throw new Error(JSON.stringify(body))
}
await database.query(
  'create table soak_job (id bigserial primary key, key text, taken boolean not null default false)',
)
await watchLeases(database)
const { hostname: host, port } = new URL(processes.databaseUrl)
await api.insist('POST', '/api/credentials', {
  body: {
    name: 'soak_db',
    type: 'postgres',
    data: { host: decodeURIComponent(host), port, user: 'noetl', password: '', database: 'noetl' },
  },
})

const effects = await listenForEffects(createChance(seed + 3))
const listeners = createListeners(urls, createChance(seed + 4))
const one = async <T>(text: string, values: readonly unknown[] = []): Promise<T | null> => {
  try {
    const { rows } = await database.query<{ value: T }>(text, [...values])
    return rows[0]?.value ?? null
  } catch {
    return null
  }
}
const running = (): Promise<number | null> =>
  one<number>(`select count(*)::int as value from noetl.execution where status = 'RUNNING'`)
const clients = createClients({
  api,
  chance: createChance(seed + 5),
  effects,
  inFlight: Number(flags['in-flight']),
  running,
  statusOf: (id) => one<string>('select status as value from noetl.execution where execution_id = $1', [id]),
  prepare: async (job) =>
    void (await one(`insert into soak_job (key) select $1 from generate_series(1, 10)`, [job])),
  follow: listeners.follow,
})
const faults = createFaults({
  servers,
  workers,
  processes,
  database,
  chance: createChance(seed),
  leaseSeconds: LEASE_SECONDS,
  say,
})

const stuck: string[] = []
const lookForStuck = async (): Promise<void> => {
  const found = await one<readonly string[]>(
    `select array_agg(execution_id::text) as value from noetl.execution e where status = 'RUNNING'
     and not exists (select from noetl.command c where c.execution_id = e.execution_id and c.status in ('PENDING', 'CLAIMED', 'PARKED'))
     and not exists (select from noetl.timer t where t.execution_id = e.execution_id)`,
  )
  for (const id of found ?? [])
    stuck.push(`${id} ran without a cause after ${Math.round(performance.now() - began)} ms`)
}

const endAt = performance.now() + Number(flags.minutes) * 60_000
const isOver = (): boolean => performance.now() > endAt
const using = clients.run(isOver)
if (flags.calm) meddler.behave()
const breaking = flags.calm ? Promise.resolve() : faults.run(isOver)
while (!isOver()) {
  await sleep(3000)
  await lookForStuck()
}
await breaking
meddler.behave()
for (const unit of [...servers, ...workers]) await unit.start()
say('faults have stopped')
await using
say('clients have stopped')
const settledBy = performance.now() + SETTLE_MS
const isSettled = async (): Promise<boolean> =>
  (await running()) === 0 &&
  (await one<number>(`select count(*)::int as value from noetl.timer t where ${OPEN_TIMER}`)) === 0
while (performance.now() < settledBy && !(await isSettled())) {
  await sleep(1000)
  await lookForStuck()
}
say(`settled: ${await isSettled()}`)
// Streams that look once in five seconds get their chance.
await sleep(8000)

const problems = [
  ...stuck,
  ...(await findProblems({
    database,
    api,
    urls,
    clients,
    listeners,
    effects: effects.seen,
  })),
]
for (const url of urls) {
  const command = fileURLToPath(new URL('../bin/noetl', import.meta.url))
  const doctor = spawnSync(command, ['doctor', '--server', url], { encoding: 'utf8' })
  say(`doctor: ${doctor.stdout.trim()}${doctor.stderr.trim()}`)
  if (doctor.status !== 0) problems.push(`doctor of ${url}: ${doctor.stdout}${doctor.stderr}`)
}
const statuses = await database.query<{ path: string; status: string; count: string }>(
  'select path, status, count(*) as count from noetl.execution group by 1, 2 order by 1, 2',
)
for (const { path, status, count } of statuses.rows) say(`${path.padEnd(18)} ${status.padEnd(10)} ${count}`)
const releases = await database.query<{ reason: string; count: string }>(
  `select meta ->> 'reason' as reason, count(*) as count from noetl.event where event_type = 'command.released' group by 1`,
)
say(`released: ${releases.rows.map(({ reason, count }) => `${reason} ${count}`).join(', ')}`)
say(`faults: ${JSON.stringify(faults.counts)}`)
say(`network: ${JSON.stringify(meddler.counts)}; streams opened again: ${listeners.reconnects()}`)
say(
  `${clients.starts.length} starts, ${clients.acknowledged.length} acknowledged events, ${effects.seen.length} effects`,
)
for (const problem of problems.slice(0, 60)) say(`✗ ${problem}`)
say(
  problems.length === 0
    ? `✓ everything held (seed ${seed})`
    : `${problems.length} problems (seed ${seed}), see ${directory}`,
)

listeners.close()
effects.close()
meddler.close()
await database.end()
await processes.endAll()
if (problems.length === 0) rmSync(directory, { recursive: true, force: true })
process.exit(problems.length === 0 ? 0 : 1)
