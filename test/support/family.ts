/**
 * Executions that start executions: a server with everything that moves them, one move at a time, so that a test may
 * stop the world between any two.
 */
import type { ControlPlane, LeasedCommand } from '../../src/contract/command.ts'
import type { Json, JsonObject } from '../../src/contract/json.ts'
import { SERVER_POOL } from '../../src/server/build-append.ts'
import { createChildren } from '../../src/server/children.ts'
import type { ChildStart } from '../../src/server/children.ts'
import { createLocalControlPlane } from '../../src/server/local-control-plane.ts'
import type { Timers } from '../../src/server/timers.ts'
import { createTimers } from '../../src/server/timers.ts'
import type { ExecutionRow } from '../../src/store/executions.ts'
import { readExecution } from '../../src/store/executions.ts'
import { expireLeases, historyProblems, readLog, storedDifferences, stuckExecutions } from './history.ts'
import type { ScriptedWorker } from './scripted-worker.ts'
import { createScriptedWorker, reportOf } from './scripted-worker.ts'
import type { TestServer } from './server.ts'

export interface Family {
  readonly server: TestServer
  readonly timers: Timers
  /** Runs the tools; sub-playbooks are not its business. */
  readonly worker: ScriptedWorker
  /** Leases commands that start children. */
  leaseStarts(): Promise<readonly LeasedCommand[]>
  /** Starts the child of a command. */
  start(command: LeasedCommand): Promise<ChildStart>
  /** Reports what came of the start. */
  report(command: LeasedCommand, started: ChildStart | Error): Promise<'ok' | 'lost'>
  /** Lets every lease run out and the reaper look. */
  loseLeases(): Promise<void>
  /** Makes every timer due. */
  allTimersDue(): Promise<void>
  /** Moves everything that can move until nothing can; `tool` answers the commands of workers. */
  settle(tool?: (command: LeasedCommand) => Json | Error): Promise<void>
  row(executionId: string): Promise<ExecutionRow>
  children(executionId: string): Promise<readonly string[]>
  /** Executions there are. */
  count(): Promise<number>
  data(executionId: string): Promise<Json>
  /** What is wrong with any execution; empty at every quiet point. */
  problems(): Promise<readonly string[]>
}

const WORKER_ID = 'children-test'

export const createFamily = (server: TestServer): Family => {
  const { core, leases, databases } = server
  const controlPlane: ControlPlane = createLocalControlPlane(core, leases)
  const children = createChildren(core)
  const timers = createTimers(core)
  const worker = createScriptedWorker(server, 'w1')
  const signal = new AbortController().signal

  const ids = async (where: string, values: readonly unknown[]): Promise<readonly string[]> => {
    const found = await Promise.all(
      databases.map((database) =>
        database.query<{ execution_id: string }>(
          `select execution_id from noetl.execution where ${where} order by execution_id`,
          [...values],
        ),
      ),
    )
    return found.flatMap(({ rows }) => rows.map((row) => row.execution_id))
  }

  const leaseStarts: Family['leaseStarts'] = () =>
    controlPlane.lease({ workerId: WORKER_ID, pool: SERVER_POOL, max: 50, waitMs: 0, signal })

  const report: Family['report'] = (command, started) =>
    controlPlane.report(reportOf(command, WORKER_ID, outcomeOf(started)))

  const startAll = async (): Promise<number> => {
    const commands = await leaseStarts()
    for (const command of commands) {
      const started = await children.start(command).catch((error: unknown) => error as Error)
      await report(command, started)
    }
    return commands.length
  }

  const workAll = async (tool: (command: LeasedCommand) => Json | Error): Promise<number> => {
    const commands = await worker.lease(100)
    for (const command of commands) await worker.answer(command, tool(command))
    return commands.length
  }

  return {
    server,
    timers,
    worker,
    leaseStarts,
    start: (command) => children.start(command),
    report,
    loseLeases: async () => {
      await expireLeases(databases)
      await server.reaper.runOnce()
    },
    allTimersDue: async () => {
      for (const database of databases) await database.query('update noetl.timer set due_at = now()')
    },
    settle: async (tool = () => ({ ok: true })) => {
      for (;;) {
        const moved = (await startAll()) + (await workAll(tool)) + (await timers.runOnce())
        if (moved === 0) return
      }
    },
    row: async (executionId) => {
      const row = await readExecution(core.shards.of(executionId), executionId)
      if (!row) throw new Error(`no execution ${executionId}`)
      return row
    },
    children: (executionId) => ids('parent_execution_id = $1', [executionId]),
    count: async () => (await ids('true', [])).length,
    data: async (executionId) =>
      (await readLog(core.shards.of(executionId), executionId)).at(-1)?.result?.context?.['data'] ?? null,
    problems: async () => {
      const found = await Promise.all(
        (await ids('true', [])).map((id) => historyProblems(core.shards.of(id), id)),
      )
      return [...found.flat(), ...(await stuckExecutions(databases)), ...(await storedDifferences(core))]
    },
  }
}

const outcomeOf = (started: ChildStart | Error) => {
  if (started instanceof Error) {
    const error = { kind: 'sub_playbook', code: 'REFUSED', message: started.message, retryable: false }
    return { outcome: 'error', error } as const
  }
  return 'waitMs' in started
    ? ({ outcome: 'ok', pending: { timeoutMs: started.waitMs } } as const)
    : ({ outcome: 'ok', data: started.data } as const)
}

/** A playbook of these steps. */
export const familyPlaybook = (path: string, steps: string, workload: JsonObject = {}): string =>
  `apiVersion: noetl.io/v2\nkind: Playbook\nmetadata: { name: family, path: ${path} }\nworkload: ${JSON.stringify(workload)}\nworkflow:\n${steps}`
