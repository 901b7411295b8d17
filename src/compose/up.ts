/**
 * `noetl up`: everything in one process until Ctrl-C.
 *
 * 1. The ready line is printed when requests are served, not before.
 * 2. A start that fails leaves nothing running.
 * 3. What can be known to be in the way is said before anything is started.
 * 4. A stop that was asked for while things start takes effect at the next step of it; nothing is said to be ready then.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errorLine, EXIT } from '../cli/failure.ts'
import type { ServerFlags } from '../cli/program.ts'
import type { Terminal } from '../cli/terminal.ts'
import { noWorkerLine, readyLine, startingLine, STOP_HINT, stoppingLine } from '../cli/up-lines.ts'
import { createClient } from '../client/client.ts'
import { ProblemError } from '../contract/problem.ts'
import { parseShardList } from '../store/shards.ts'
import type { CommandContext } from './command-context.ts'
import { refuseForeignAddresses } from './database-url.ts'
import { commandName, showExamples } from './examples.ts'
import { reachableUrl, refuseOpenHost } from './host.ts'
import { refuseTakenAddress } from './listen.ts'
import type { Interrupts } from './interrupts.ts'
import { listenForInterrupts, untilAborted } from './interrupts.ts'
import { createLog } from './log.ts'
import { readServerFile, writeServerFile } from './server-file.ts'
import type { Settings } from './settings.ts'
import { DEFAULTS, readSettings } from './settings.ts'
import type { Stack } from './stack.ts'
import { startStack } from './stack.ts'
import { stopStack } from './stop-stack.ts'
import { toolEnvironment } from './tool-environment.ts'

export const up = async (flags: ServerFlags, context: CommandContext): Promise<number> => {
  const { env, version, terminal } = context
  const settings = readSettings(flags, env, parseShardList)
  const isFresh = !existsSync(join(settings.dataDir, 'postgres'))
  refuseOpenHost(settings, settings.databaseUrls.length === 0 && isFresh ? false : null)
  refuseSecondServer(settings)
  refuseForeignAddresses(settings.databaseUrls)
  await refuseTakenAddress(settings.host, settings.port)
  const { dataDir, databaseUrls } = settings
  const interrupts = listenForInterrupts(context.exit)
  interrupts.signal.addEventListener('abort', () => terminal.out(stoppingLine), { once: true })
  terminal.out(`${terminal.style.bold('NoETL')} ${version}`)
  terminal.out(startingLine({ dataDir, isFresh, databaseCount: databaseUrls.length }))
  const log = createLog(settings.logLevel, terminal)
  try {
    const { signal } = interrupts
    const stack = await startStack({ ...settings, version, log, signal, toolEnv: toolEnvironment(env) })
    try {
      if (!signal.aborted) await serve(stack, settings, context, interrupts)
    } finally {
      await stopStack(stack, terminal)
    }
  } catch (error) {
    if (error !== interrupts.signal.reason) throw error
  } finally {
    interrupts.release()
  }
  terminal.out('Stopped')
  return EXIT.ok
}

const serve = async (
  stack: Stack,
  settings: Settings,
  context: CommandContext,
  { signal }: Interrupts,
): Promise<void> => {
  const { terminal } = context
  const url = reachableUrl(stack.url)
  const isEmbedded = settings.databaseUrls.length === 0
  // Nor has this process one to show itself.
  const asksForCertificates = settings.access.tls !== null && settings.access.tls.clientCa !== null
  const takeBack = writeServerFile(settings.dataDir, url, 'up', stack.access)
  try {
    terminal.out(readyLine(stack.url))
    const hasWorker = settings.slots > 0
    if (isEmbedded && stack.isNew && stack.keyFile !== null) terminal.out(keyLine(stack.keyFile, terminal))
    if (isEmbedded && stack.isNew && settings.examples && !asksForCertificates && !signal.aborted) {
      const isFoundFromHere = settings.dataDir === resolve(context.workingDirectory, DEFAULTS.dataDir)
      const show = () =>
        showExamples({ client: createClient(url, stack.access), context, hasWorker, isFoundFromHere, signal })
      await withoutFailing(terminal, signal, show)
    } else if (!hasWorker) {
      terminal.out(noWorkerLine(url, commandName(context)))
    }
    if (!signal.aborted) terminal.out(terminal.style.dim(`\n${STOP_HINT}`))
    const lost = await Promise.race([untilAborted(signal), stack.lost])
    if (lost) throw lost
  } finally {
    takeBack()
  }
}

const refuseSecondServer = ({ dataDir, databaseUrls }: Settings): void => {
  const other = databaseUrls.length === 0 ? readServerFile(dataDir) : null
  if (other?.kind !== 'up') return
  const message = `NoETL already runs on ${dataDir}, at ${other.url} (process ${other.pid}). Stop it, or choose another directory with --data-dir.`
  throw new ProblemError('conflict', message)
}

const keyLine = (file: string, { style }: Terminal): string =>
  style.dim(`Secrets are sealed with the key in ${file}; a backup of the data needs it, too`)

/** A server serves whether or not its examples run. */
const withoutFailing = async (
  terminal: Terminal,
  signal: AbortSignal,
  show: () => Promise<void>,
): Promise<void> => {
  try {
    await show()
  } catch (error) {
    if (!signal.aborted)
      terminal.err(errorLine(`the examples could not be run: ${(error as Error).message}`, terminal))
  }
}
