/** `noetl worker`: runs commands for a server elsewhere until Ctrl-C, then drains. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { EXIT } from '../cli/failure.ts'
import type { WorkerFlags } from '../cli/program.ts'
import { stoppingLine } from '../cli/up-lines.ts'
import { createClient } from '../client/client.ts'
import { createRemoteControlPlane } from '../client/control-plane.ts'
import { ProblemError } from '../contract/problem.ts'
import { systemClock } from '../worker/clock.ts'
import { createTools } from '../worker/tools/all.ts'
import { createWorker } from '../worker/worker.ts'
import type { CommandContext } from './command-context.ts'
import { listenForInterrupts, untilAborted } from './interrupts.ts'
import { createLog } from './log.ts'
import { DEFAULTS, readLogLevel, readSlots } from './settings.ts'
import { toolEnvironment } from './tool-environment.ts'

const GRACE_MS = 10_000

export const work = async (flags: WorkerFlags, context: CommandContext): Promise<number> => {
  const { env, terminal } = context
  const url = flags.server ?? env['NOETL_SERVER_URL'] ?? `http://${DEFAULTS.host}:${DEFAULTS.port}`
  const pool = (flags.pool ?? env['NOETL_POOL'] ?? 'shared').trim()
  if (pool === '') throw new ProblemError('invalid', '--pool (NOETL_POOL) is empty; name one, such as shared')
  const slots = readSlots(flags.slots, env, 1)
  const client = createClient(url)
  await client.health()
  const interrupts = listenForInterrupts(context.exit)
  interrupts.signal.addEventListener('abort', () => terminal.out(stoppingLine), { once: true })
  const workerId = `worker-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const controlPlane = createRemoteControlPlane(url)
  const tools = createTools({
    env: toolEnvironment(env),
    python: env['NOETL_PYTHON'] ?? env['PYTHON_PATH'] ?? null,
    controlPlane,
  })
  const log = createLog(readLogLevel(env), terminal)
  const worker = createWorker({
    controlPlane,
    tools,
    workerId,
    pool,
    slots,
    log,
    clock: systemClock,
    leaseMs: () => controlPlane.leaseMs(),
  })
  worker.start()
  terminal.out(`Worker ${workerId} takes work of pool ${pool} from ${client.url}, ${slots} at once`)
  await untilAborted(interrupts.signal)
  await worker.stop({ graceMs: GRACE_MS })
  await tools.close()
  interrupts.release()
  terminal.out('Stopped')
  return EXIT.ok
}
