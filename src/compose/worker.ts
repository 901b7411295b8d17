/** `noetl worker`: runs commands for a server elsewhere until Ctrl-C, then drains. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { EXIT } from '../cli/failure.ts'
import type { WorkerFlags } from '../cli/program.ts'
import { stoppingLine } from '../cli/up-lines.ts'
import { readSession } from '../client/access.ts'
import { createClient } from '../client/client.ts'
import { createRemoteControlPlane } from '../client/control-plane.ts'
import type { ClientOptions } from '../client/transport.ts'
import { mayUse } from '../contract/access.ts'
import { ProblemError } from '../contract/problem.ts'
import { systemClock } from '../worker/clock.ts'
import { createTools } from '../worker/tools/all.ts'
import { createPresence } from '../worker/presence.ts'
import { createWorker, workerCapabilities } from '../worker/worker.ts'
import { givenAccess } from './client-access.ts'
import type { CommandContext } from './command-context.ts'
import { listenForInterrupts, untilAborted } from './interrupts.ts'
import { createLog } from './log.ts'
import { DEFAULTS, readCapabilities, readGraceSeconds, readLogLevel, readSlots } from './settings.ts'
import { toolEnvironment } from './tool-environment.ts'
import { readToolSettings } from './tool-settings.ts'

const GRACE_SECONDS = 30

export const work = async (flags: WorkerFlags, context: CommandContext): Promise<number> => {
  const { env, terminal } = context
  const url = flags.server ?? env['NOETL_SERVER_URL'] ?? `http://${DEFAULTS.host}:${DEFAULTS.port}`
  const pool = (flags.pool ?? env['NOETL_POOL'] ?? 'shared').trim()
  if (pool === '') throw new ProblemError('invalid', '--pool (NOETL_POOL) is empty; name one, such as shared')
  const slots = readSlots(flags.slots, env, 1)
  const capabilities = readCapabilities(flags.capabilities, env)
  const graceSeconds = readGraceSeconds(flags.grace, env, GRACE_SECONDS)
  const { limits, maxTaskRuns, surroundings } = readToolSettings(env)
  const access = givenAccess(flags.token, env)
  const client = createClient(url, access)
  await client.health()
  await refuseOtherRoles(client.url, access)
  const interrupts = listenForInterrupts(context.exit)
  interrupts.signal.addEventListener('abort', () => terminal.out(stoppingLine), { once: true })
  const workerId = `worker-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const controlPlane = createRemoteControlPlane(url, access)
  const tools = createTools({
    env: toolEnvironment(env),
    python: env['NOETL_PYTHON'] ?? env['PYTHON_PATH'] ?? null,
    controlPlane,
    dataDirectory: resolve(env['NOETL_DATA_DIR'] ?? DEFAULTS.dataDir),
    limits,
    surroundings,
  })
  const log = createLog(readLogLevel(env), terminal)
  const worker = createWorker({
    controlPlane,
    tools,
    workerId,
    pool,
    capabilities,
    slots,
    log,
    clock: systemClock,
    leaseMs: () => controlPlane.leaseMs(),
    ...(maxTaskRuns === null ? {} : { maxTaskRuns }),
    secrets: surroundings.secrets,
  })
  const presence = createPresence(
    controlPlane,
    {
      workerId,
      pool,
      slots,
      capabilities: workerCapabilities(tools, capabilities),
      hostname: hostname(),
      version: context.version,
    },
    { clock: systemClock, log },
  )
  worker.start()
  presence.start()
  terminal.out(`Worker ${workerId} takes work of pool ${pool} from ${client.url}, ${slots} at once`)
  await untilAborted(interrupts.signal)
  await worker.stop({ graceMs: graceSeconds * 1000 })
  await presence.stop()
  await tools.close()
  interrupts.release()
  terminal.out('Stopped')
  return EXIT.ok
}

/** Better said at the start than with every request for work. */
const refuseOtherRoles = async (url: string, access: ClientOptions): Promise<void> => {
  const { name, role } = await readSession(url, access)
  if (mayUse(role, 'worker')) return
  throw new ProblemError(
    'forbidden',
    `The token '${name}' has the role ${role}; a worker needs one of role worker, made with: noetl token create --role worker`,
  )
}
