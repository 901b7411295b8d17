/** Composition root: arguments and environment are read here, once; each command is loaded when it is asked for. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reportFailure } from './cli/failure.ts'
import type { Actions } from './cli/program.ts'
import { runProgram } from './cli/program.ts'
import { createTerminal } from './cli/terminal.ts'
import type { CommandContext } from './compose/command-context.ts'

/** Something that still holds the process this long after its work is done is left behind. */
const LINGER_MS = 1000

const homeDirectory = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(homeDirectory, 'package.json'), 'utf8')) as {
  version: string
}
const env = { ...process.env }
const terminal = createTerminal({ stdout: process.stdout, stderr: process.stderr, env })

const context: CommandContext = {
  env,
  version,
  terminal,
  exit: (exitCode) => process.exit(exitCode),
  workingDirectory: process.cwd(),
  homeDirectory,
}

const actions: Actions = {
  up: async (flags) => (await import('./compose/up.ts')).up(flags, context),
  run: async (flags) => (await import('./compose/run.ts')).run(flags, context),
  validate: async (flags) => (await import('./cli/validate.ts')).validatePlaybooks(flags, terminal),
  history: async (flags) => (await import('./compose/history.ts')).history(flags, context),
  replay: async (flags) => (await import('./compose/replay.ts')).replay(flags, context),
  logs: async (flags) => (await import('./compose/logs.ts')).logs(flags, context),
  worker: async (flags) => (await import('./compose/worker.ts')).work(flags, context),
  token: async (flags) => (await import('./compose/token.ts')).token(flags, context),
}

try {
  process.exitCode = await runProgram({ argv: process.argv.slice(2), version, terminal, actions })
} catch (error) {
  process.exitCode = reportFailure(error, terminal, Boolean(env['NOETL_DEBUG']))
}
setTimeout(() => process.exit(), LINGER_MS).unref()
