/** A server for one run: on this machine only, on any free port, gone with the run. */
import type { Connection } from '../cli/run.ts'
import { createClient } from '../client/client.ts'
import { ProblemError } from '../contract/problem.ts'
import { parseShardList } from '../store/shards.ts'
import type { CommandContext } from './command-context.ts'
import { createLog } from './log.ts'
import { writeServerFile } from './server-file.ts'
import { DEFAULTS, readSettings } from './settings.ts'
import type { Stack } from './stack.ts'
import { startStack } from './stack.ts'
import { stopStack } from './stop-stack.ts'
import { toolEnvironment } from './tool-environment.ts'

/** A start that takes longer than this says so. */
const SLOW_MS = 1000

export const startRunServer = async (
  directory: string,
  tell: (line: string) => void,
  { env, version, terminal }: CommandContext,
): Promise<Connection> => {
  const wanted = readSettings({ dataDir: directory, host: DEFAULTS.host, port: '0' }, env, parseShardList)
  // It talks to nobody but this process.
  const settings = { ...wanted, access: { ...wanted.access, tls: null } }
  if (settings.slots === 0) {
    const message =
      'NOETL_SLOTS is 0: a server started for this run would have no worker. Unset it, or use a running server.'
    throw new ProblemError('invalid', message)
  }
  const slow = setTimeout(
    () => tell(`Starting a server for this run on ${directory} (noetl up keeps one running)`),
    SLOW_MS,
  )
  try {
    const log = createLog(settings.logLevel, terminal)
    const stack = await startStack({ ...settings, version, log, toolEnv: toolEnvironment(env) })
    return await announced(directory, stack, () => stopStack(stack, terminal))
  } finally {
    clearTimeout(slow)
  }
}

const announced = async (
  directory: string,
  { url, access }: Stack,
  stop: () => Promise<void>,
): Promise<Connection> => {
  try {
    const takeBack = writeServerFile(directory, url, 'run', access)
    const close = async (): Promise<void> => {
      takeBack()
      await stop()
    }
    return { client: createClient(url, access), close, isOwnServer: true }
  } catch (error) {
    await stop()
    throw error
  }
}
