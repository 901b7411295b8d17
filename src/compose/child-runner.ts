/** The control plane's own worker: it runs sub-playbooks, which need no tool but the control plane itself. */
import { randomUUID } from 'node:crypto'
import { ProblemError } from '../contract/problem.ts'
import { SERVER_POOL } from '../server/build-append.ts'
import { createChildren } from '../server/children.ts'
import type { Core } from '../server/core.ts'
import type { Leases } from '../server/leases.ts'
import { databaseProblem } from '../store/failure.ts'
import { createLocalControlPlane } from '../server/local-control-plane.ts'
import { CHILD_KIND } from '../engine/command.ts'
import { systemClock } from '../worker/clock.ts'
import type { Log } from '../worker/log.ts'
import type { Tool, ToolResult } from '../worker/tool.ts'
import { createToolRegistry } from '../worker/tools/registry.ts'
import { whenAvailable } from '../worker/when-available.ts'
import { createWorker } from '../worker/worker.ts'

const SLOTS = 32
const GRACE_MS = 5000

const rethrow = (error: unknown): never => {
  throw databaseProblem(error) ?? error
}

/** Starts it; answers how to stop it. */
export const startChildRunner = (
  core: Core,
  leases: Leases,
  options: { log: Log; workerPrefix: string },
): (() => Promise<void>) => {
  const children = createChildren(core)
  const tool: Tool = {
    kind: CHILD_KIND,
    instant: false,
    run: async ({ command, signal }): Promise<ToolResult> => {
      try {
        const started = await whenAvailable(signal, () => children.start(command).catch(rethrow))
        return 'waitMs' in started
          ? { outcome: 'ok', pending: { timeoutMs: started.waitMs } }
          : { outcome: 'ok', data: started.data }
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error
        return {
          outcome: 'error',
          error: {
            kind: 'sub_playbook',
            code: error.code.toUpperCase(),
            message: error.message,
            retryable: false,
          },
        }
      }
    },
  }
  const worker = createWorker({
    controlPlane: createLocalControlPlane(core, leases),
    tools: createToolRegistry([tool]),
    workerId: `${options.workerPrefix}children-${process.pid}-${randomUUID().slice(0, 8)}`,
    pool: SERVER_POOL,
    slots: SLOTS,
    log: options.log,
    clock: systemClock,
  })
  worker.start()
  return () => worker.stop({ graceMs: GRACE_MS })
}
