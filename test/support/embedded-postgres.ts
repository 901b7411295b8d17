/** What tests of the embedded PostgreSQL share: prepared directories, queries, and a look at the process list. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import type { EmbeddedPostgresOptions } from '../../src/store/embedded/start.ts'

/** For data that is thrown away. */
export const FAST_SETTINGS = { fsync: 'off', shared_buffers: '16MB' }

const CHILD = fileURLToPath(new URL('./embedded-postgres-child.ts', import.meta.url))

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

export interface ListedProcess {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

export function listProcesses(): ListedProcess[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return [...stdout.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command: command ?? '',
  }))
}

/** Every process that was started with this directory on its command line. */
export function processesOn(directory: string): ListedProcess[] {
  return listProcesses().filter(({ command }) => command.includes(directory))
}

export interface PostgresChild {
  readonly process: ChildProcess
  /** The next line the child prints, read as JSON; null once it has ended. */
  nextLine(): Promise<Record<string, unknown> | null>
  readonly ended: Promise<void>
}

/** Another Node process that starts an embedded PostgreSQL, in a process group of its own. */
export function spawnPostgresChild(
  options: EmbeddedPostgresOptions & { exitAfterStart?: boolean },
  environment: Record<string, string> = {},
): PostgresChild {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    process: child,
    nextLine: async () => {
      const line = await lines.next()
      return line.done === true ? null : (JSON.parse(line.value) as Record<string, unknown>)
    },
    ended: new Promise((resolve) => child.once('exit', () => resolve())),
  }
}
