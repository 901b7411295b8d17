/**
 * Shows an execution that is under way until its end, and leaves it alone when the user does not want to wait any longer.
 *
 * 1. It looks like `noetl run`; with JSON, stdout holds exactly one document, and it names the execution whatever happens.
 * 2. The first Ctrl-C ends the waiting, not the execution: exit code 130, and a word on what becomes of it.
 */
import type { Client } from '../client/client.ts'
import type { JsonObject } from '../contract/json.ts'
import { EXECUTION_EXIT, EXIT } from './failure.ts'
import { printEnding } from './run-ending.ts'
import type { Shown } from './show-execution.ts'
import { showExecution } from './show-execution.ts'
import type { Terminal } from './terminal.ts'

/** What there is to know about waiting, whatever is waited for. */
export interface Waiting {
  /** Aborts at the first Ctrl-C. */
  readonly interrupted: AbortSignal
  /** The server was started for this command and ends with it. */
  readonly isOwnServer: boolean
}

export type WaitClient = Pick<Client, 'url' | 'follow' | 'resolve'>

export interface WaitOptions extends Waiting {
  readonly executionId: string
  readonly client: WaitClient
  readonly terminal: Terminal
  /** They set the width of their column. */
  readonly stepNames: readonly string[]
  /** Events up to this position are old and not shown. */
  readonly after?: number
  /** With `--json`: what the document says beside the end. */
  readonly json: JsonObject | null
}

/** Answers the exit code that its end stands for. */
export const waitForEnd = async (options: WaitOptions): Promise<number> => {
  const { executionId, client, terminal, json, isOwnServer } = options
  const shown = await followed(options)
  if (shown === null) {
    terminal.err(leavingText(executionId, isOwnServer))
    return EXIT.interrupted
  }
  await printEnding({ executionId, shown, client, terminal, json })
  return EXECUTION_EXIT[shown.end.status]
}

/** Null when the user left. */
const followed = async (options: WaitOptions): Promise<Shown | null> => {
  const { json, interrupted, terminal, client, executionId, stepNames, after = 0 } = options
  const shown = { client, executionId, terminal, stepNames, after, quiet: json !== null }
  try {
    return await showExecution({ ...shown, signal: interrupted })
  } catch (error) {
    if (json !== null) terminal.out(JSON.stringify(json))
    if (interrupted.aborted) return null
    throw error
  }
}

const leavingText = (executionId: string, isOwnServer: boolean): string =>
  [
    isOwnServer
      ? `Execution ${executionId} is not over; it goes on with the next server on this data directory: noetl up`
      : `Execution ${executionId} goes on.`,
    `Look at it: noetl state ${executionId}   Cancel it: noetl cancel ${executionId}`,
  ].join('\n')
