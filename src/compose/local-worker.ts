/** The worker inside the server process. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Wallet } from '../lib/envelope.ts'
import type { Core } from '../server/core.ts'
import type { Leases } from '../server/leases.ts'
import { auditSecrets } from '../server/access/audited-control-plane.ts'
import { onOnesOwn } from '../server/access/caller.ts'
import { createLocalControlPlane } from '../server/local-control-plane.ts'
import { createLocalSlots } from '../server/local-slots.ts'
import { systemClock } from '../worker/clock.ts'
import { createTools } from '../worker/tools/all.ts'
import { createPresence } from '../worker/presence.ts'
import { createWorker, workerCapabilities } from '../worker/worker.ts'
import type { StackOptions } from './stack.ts'

export const LOCAL_WORKER_PREFIX = 'local-'
const POOL = 'shared'
/** A pipeline brings the kinds of its tasks; the worker itself runs it. */
const PIPELINE_KIND = 'task_sequence'

/** Starts it; answers how to stop it. */
export const startLocalWorker = (
  core: Core,
  leases: Leases,
  wallet: Wallet,
  options: StackOptions,
  graceMs: number,
): (() => Promise<void>) => {
  const workerId = `${LOCAL_WORKER_PREFIX}${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const controlPlane = auditSecrets(createLocalControlPlane(core, leases, wallet), {
    database: core.shards.cluster,
    workerId,
    log: options.log,
    recorded: core.instruments.recorded,
  })
  const { limits = {}, maxTaskRuns = null, surroundings } = options.tools ?? {}
  const tools = createTools({
    env: options.toolEnv,
    python: options.python,
    controlPlane,
    dataDirectory: options.dataDir,
    limits,
    ...(surroundings === undefined ? {} : { surroundings }),
  })
  const capabilities = workerCapabilities(tools, options.capabilities)
  const presence = createPresence(
    controlPlane,
    {
      workerId,
      pool: POOL,
      slots: options.slots,
      capabilities,
      hostname: hostname(),
      version: options.version,
    },
    { clock: systemClock, log: options.log },
  )
  const worker = createWorker({
    controlPlane,
    tools,
    workerId,
    pool: POOL,
    capabilities: options.capabilities,
    slots: options.slots,
    log: options.log,
    clock: systemClock,
    leaseMs: () => core.leaseSeconds * 1000,
    ...(maxTaskRuns === null ? {} : { maxTaskRuns }),
    ...(surroundings === undefined ? {} : { secrets: surroundings.secrets }),
  })
  core.attachWorker(
    createLocalSlots({
      workerId,
      pool: POOL,
      capabilities: new Set(capabilities),
      freeSlots: () => worker.freeSlots(),
      isInstant: (kind) => tools.find(kind)?.instant ?? false,
      canRun: (kind) => kind === PIPELINE_KIND || tools.find(kind) !== undefined,
      // The request that happened to bring them has nothing to do with how they are run.
      accept: (commands) => onOnesOwn(() => worker.accept(commands)),
    }),
  )
  // An execution that ends otherwise than by completing may leave commands that nobody wants any more.
  const unsubscribe = core.onCommit((state) => {
    if (state.status === 'CANCELLED' || state.status === 'FAILED') worker.checkHeld()
  })
  worker.start()
  presence.start()
  return async () => {
    unsubscribe()
    core.attachWorker(null)
    await worker.stop({ graceMs })
    await presence.stop()
    await tools.close()
  }
}
