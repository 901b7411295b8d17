/**
 * `noetl worker`: runs commands for a server elsewhere.
 *
 * 1. A server that is not there yet is waited for. One that does not let this worker in is not.
 * 2. It works until Ctrl-C, then drains, or until the server does not let it work any more: then it says what it aborts
 *    and fails.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { errorLine, EXIT, Reported } from '../cli/failure.ts'
import type { WorkerFlags } from '../cli/program.ts'
import type { Terminal } from '../cli/terminal.ts'
import { stoppingLine } from '../cli/up-lines.ts'
import {
  abortedLines,
  connectedLine,
  gaveUpMessage,
  otherRoleMessage,
  refusalMessage,
  waitingLine,
} from '../cli/worker-lines.ts'
import { readSession } from '../client/access.ts'
import { createClient } from '../client/client.ts'
import type { RemoteControlPlane } from '../client/control-plane.ts'
import { createRemoteControlPlane } from '../client/control-plane.ts'
import type { ClientOptions } from '../client/transport.ts'
import { WrongServer } from '../client/wrong-server.ts'
import { mayUse } from '../contract/access.ts'
import { ProblemError } from '../contract/problem.ts'
import { systemClock } from '../worker/clock.ts'
import { isDismissal } from '../worker/dismissal.ts'
import { firstContact } from '../worker/first-contact.ts'
import { createTools } from '../worker/tools/all.ts'
import { createPresence } from '../worker/presence.ts'
import { createWorker, workerCapabilities } from '../worker/worker.ts'
import { givenAccess } from './client-access.ts'
import type { CommandContext } from './command-context.ts'
import { listenForInterrupts, untilAborted } from './interrupts.ts'
import { createLog } from './log.ts'
import {
  DEFAULTS,
  readCapabilities,
  readGraceSeconds,
  readLogLevel,
  readPool,
  readSlots,
  readWaitSeconds,
} from './settings.ts'
import { toolEnvironment } from './tool-environment.ts'
import type { ToolSettings } from './tool-settings.ts'
import { readToolSettings } from './tool-settings.ts'

const GRACE_SECONDS = 30

interface WorkerSettings {
  readonly url: string
  readonly access: ClientOptions
  readonly pool: string
  readonly slots: number
  readonly capabilities: readonly string[]
  readonly graceSeconds: number
  readonly waitSeconds: number | null
  readonly tools: ToolSettings
}

export const work = async (flags: WorkerFlags, context: CommandContext): Promise<number> => {
  const { env, terminal } = context
  const settings = readWorkerSettings(flags, env)
  const interrupts = listenForInterrupts(context.exit)
  try {
    if (!(await meetServer(settings, interrupts.signal, terminal))) {
      terminal.out('Stopped')
      return EXIT.ok
    }
    interrupts.signal.addEventListener('abort', () => terminal.out(stoppingLine), { once: true })
    return await workFor(settings, interrupts.signal, context)
  } finally {
    interrupts.release()
  }
}

const readWorkerSettings = (flags: WorkerFlags, env: CommandContext['env']): WorkerSettings => {
  const access = givenAccess(flags.token, env)
  const named = flags.server ?? env['NOETL_SERVER_URL'] ?? `http://${DEFAULTS.host}:${DEFAULTS.port}`
  return {
    // Without a slash at the end; an address that is none is refused here.
    url: createClient(named, access).url,
    access,
    pool: readPool(flags.pool, env),
    slots: readSlots(flags.slots, env, 1),
    capabilities: readCapabilities(flags.capabilities, env),
    graceSeconds: readGraceSeconds(flags.grace, env, GRACE_SECONDS),
    waitSeconds: readWaitSeconds(flags.wait, env),
    tools: readToolSettings(env),
  }
}

/** In quotes where the line would not show where the name ends. */
const poolWords = (pool: string): string => (/[\s,]/.test(pool) ? JSON.stringify(pool) : pool)

/** False when the user does not want to wait any longer. */
const meetServer = async (
  { url, access, waitSeconds }: WorkerSettings,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<boolean> => {
  const client = createClient(url, access)
  const startedAt = performance.now()
  let hasWaited = false
  const session = await firstContact({
    url,
    meet: async (trying) => {
      await client.health({ signal: trying })
      return readSession(url, access, { signal: trying })
    },
    limitMs: waitSeconds === null ? null : waitSeconds * 1000,
    clock: systemClock,
    signal,
    onAway: (problem) => {
      hasWaited = true
      terminal.out(waitingLine(problem, waitSeconds))
    },
  }).catch((error: unknown) => {
    if (isDismissal(error)) throw refuse(refusalMessage(url, error, access.token !== undefined), terminal)
    if (error instanceof WrongServer) throw refuse(error.message, terminal)
    if (!hasWaited || !(error instanceof ProblemError) || waitSeconds === null) throw error
    throw new ProblemError(error.code, gaveUpMessage(error, waitSeconds), { cause: error })
  })
  if (session === null) return false
  // Better said at the start than with every request for work.
  if (!mayUse(session.role, 'worker')) throw refuse(otherRoleMessage(session.name, session.role), terminal)
  if (hasWaited) terminal.out(connectedLine(url, performance.now() - startedAt))
  return true
}

/** Nothing is wrong with the flags themselves: another token, or another day, and they are right. */
const refuse = (message: string, terminal: Terminal): Reported => {
  terminal.err(errorLine(message, terminal))
  return new Reported(EXIT.failed)
}

const workFor = async (
  settings: WorkerSettings,
  interrupted: AbortSignal,
  context: CommandContext,
): Promise<number> => {
  const { url, access, pool, slots, graceSeconds } = settings
  const { terminal } = context
  const workerId = `worker-${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
  const controlPlane = createRemoteControlPlane(url, access)
  const dismissal = new AbortController()
  const { worker, presence, tools } = assemble(
    workerId,
    settings,
    controlPlane,
    context,
    (problem, aborted) => {
      terminal.err(errorLine(refusalMessage(url, problem, access.token !== undefined), terminal))
      for (const line of abortedLines(aborted, controlPlane.leaseMs() / 1000)) terminal.err(line)
      dismissal.abort()
    },
  )
  worker.start()
  presence.start()
  terminal.out(`Worker ${workerId} takes work of pool ${poolWords(pool)} from ${url}, ${slots} at once`)
  await untilAborted(AbortSignal.any([interrupted, dismissal.signal]))
  await worker.stop({ graceMs: dismissal.signal.aborted ? 0 : graceSeconds * 1000 })
  await presence.stop()
  await tools.close()
  terminal.out('Stopped')
  return dismissal.signal.aborted ? EXIT.failed : EXIT.ok
}

type OnDismissed = NonNullable<Parameters<typeof createWorker>[0]['onDismissed']>

const assemble = (
  workerId: string,
  settings: WorkerSettings,
  controlPlane: RemoteControlPlane,
  { env, terminal, version }: CommandContext,
  onDismissed: OnDismissed,
) => {
  const { pool, slots, capabilities } = settings
  const { limits, maxTaskRuns, surroundings } = settings.tools
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
    heartbeatsWait: true,
    onDismissed,
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
      version,
    },
    { clock: systemClock, log, isFinal: (error) => worker.isDismissedBy(error) },
  )
  return { worker, presence, tools }
}
