/**
 * `noetl run`: validates the file here, runs it on a server, shows each step, ends with the execution's status.
 *
 * 1. Nothing is started for a file that is not valid or for flags that cannot be meant.
 * 2. The exit code is 0 only when the execution completed.
 * 3. With `--json` stdout holds exactly one JSON document.
 * 4. The first Ctrl-C asks the server to cancel; the execution's end is still shown.
 */
import type { Client, ExecuteOptions } from '../client/client.ts'
import { isObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import type { Playbook } from '../playbook/model.ts'
import { parsePlaybook } from '../playbook/parse.ts'
import { countOf, diagnosticLines } from './diagnostics.ts'
import { errorLine, EXECUTION_EXIT, EXIT, Reported } from './failure.ts'
import { warnOfMisspelt } from './misspelt.ts'
import type { PayloadFlags } from './payload.ts'
import { buildPayload } from './payload.ts'
import { readText } from './read-text.ts'
import { printEnding } from './run-ending.ts'
import { showExecution } from './show-execution.ts'
import type { Terminal } from './terminal.ts'

export interface RunFlags extends PayloadFlags {
  readonly file: string
  readonly json: boolean
}

/** A server to run on: one that was there, or one started for this run. */
export interface Connection {
  readonly client: Client
  readonly close: () => Promise<void>
  /** It was started for this command and ends with it. */
  readonly isOwnServer?: boolean
}

export interface RunOptions {
  readonly flags: RunFlags
  readonly terminal: Terminal
  readonly connect: () => Promise<Connection>
  /** Aborts at the first Ctrl-C. */
  readonly interrupted: AbortSignal
}

export const runPlaybook = async ({ flags, terminal, connect, interrupted }: RunOptions): Promise<number> => {
  const text = readText(flags.file)
  const playbook = checkPlaybook(flags.file, text, terminal)
  const payload = buildPayload(flags, playbook.workload, readText)
  warnOfMisspelt(payload, playbook.workload, terminal)
  const { client, close } = await connect()
  try {
    if (interrupted.aborted) return EXIT.cancelled
    const { path, version } = await client.register(text)
    const executionId = await start(client, { path, version, payload })
    if (!flags.json) terminal.out(headline(playbook, flags.file, executionId, terminal))
    const stopCancelling = cancelOnInterrupt(client, executionId, interrupted, terminal)
    try {
      const stepNames = playbook.steps.map((step) => step.name)
      const shown = await showExecution({
        client,
        executionId,
        terminal,
        stepNames,
        quiet: flags.json,
      }).catch((error: unknown) => {
        // It was started all the same, and may well go on.
        if (flags.json) terminal.out(JSON.stringify({ execution_id: executionId }))
        terminal.err(unknownEndText(executionId))
        throw error
      })
      await printEnding({ executionId, shown, client, terminal, json: flags.json ? {} : null })
      return EXECUTION_EXIT[shown.end.status]
    } finally {
      stopCancelling()
    }
  } finally {
    await close()
  }
}

const unknownEndText = (executionId: string): string =>
  `How execution ${executionId} ends is not known here. Look at it: noetl state ${executionId}`

/** An execution whose very first decision failed exists all the same: it is shown like any other. */
const start = async (client: Client, options: ExecuteOptions): Promise<string> => {
  try {
    return (await client.execute(options)).execution_id
  } catch (error) {
    const details = error instanceof ProblemError && isObject(error.details) ? error.details : {}
    if (typeof details['execution_id'] === 'string') return details['execution_id']
    throw error
  }
}

const checkPlaybook = (file: string, text: string, terminal: Terminal): Playbook => {
  const parsed = parsePlaybook(text)
  const diagnostics = parsed.ok ? parsed.warnings : parsed.problems
  for (const line of diagnosticLines(file, text, diagnostics, terminal)) terminal.err(line)
  if (parsed.ok) return parsed.playbook
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  terminal.err(
    errorLine(`${file} is not a valid playbook: ${countOf(errors, 'error')}, nothing was run`, terminal),
  )
  throw new Reported(EXIT.usage)
}

/** Answers how to stop listening. */
const cancelOnInterrupt = (
  client: Client,
  executionId: string,
  interrupted: AbortSignal,
  terminal: Terminal,
): (() => void) => {
  const cancel = (): void => {
    terminal.err('Cancelling the execution (Ctrl-C again leaves at once)')
    // It may end by itself in the same moment; how it ended is shown either way.
    client.cancel(executionId, { reason: 'cancelled from the command line' }).catch((error: unknown) => {
      if (error instanceof ProblemError && error.code === 'unavailable')
        terminal.err(errorLine(error.message, terminal))
    })
  }
  if (interrupted.aborted) cancel()
  else interrupted.addEventListener('abort', cancel, { once: true })
  return () => interrupted.removeEventListener('abort', cancel)
}

const headline = (
  playbook: Playbook,
  file: string,
  executionId: string,
  { style, isInteractive }: Terminal,
): string =>
  isInteractive
    ? `${style.bold(playbook.path)} ${style.dim(`${file}, execution ${executionId}`)}`
    : `running  ${playbook.path} (${file}), execution ${executionId}`
