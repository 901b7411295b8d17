/** The commands along the history of executions, with what they need around them. */
import type { Client } from '../client/client.ts'
import { cancelExecution } from '../cli/cancel.ts'
import { diffExecutions } from '../cli/diff.ts'
import { examine } from '../cli/doctor.ts'
import { explainStep } from '../cli/explain.ts'
import { exportExecution } from '../cli/export.ts'
import { EXIT } from '../cli/failure.ts'
import type { HistoryFlags } from '../cli/history-program.ts'
import { importExecution } from '../cli/import.ts'
import { listExecutions } from '../cli/list.ts'
import { rerunExecution } from '../cli/rerun.ts'
import { retryExecution } from '../cli/retry.ts'
import { showState } from '../cli/state.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { Waiting } from '../cli/wait-for-end.ts'
import type { CommandContext } from './command-context.ts'
import { untilAborted } from './interrupts.ts'
import { withClient } from './with-client.ts'

export const history = (flags: HistoryFlags, context: CommandContext): Promise<number> =>
  withClient(
    flags,
    context,
    (client, interrupted, isOwnServer) => act(flags, client, context.terminal, { interrupted, isOwnServer }),
    { makesData: flags.command === 'import' },
  )

const act = (flags: HistoryFlags, client: Client, terminal: Terminal, waiting: Waiting): Promise<number> => {
  // These tell what becomes of an execution that they leave.
  if (flags.command === 'rerun') return rerunExecution(flags, client, terminal, waiting)
  if (flags.command === 'retry') return retryExecution(flags, client, terminal, waiting)
  return unlessInterrupted(ask(flags, client, terminal), terminal, waiting.interrupted)
}

type Question = Exclude<HistoryFlags, { readonly command: 'rerun' | 'retry' }>

const ask = async (flags: Question, client: Client, terminal: Terminal): Promise<number> => {
  switch (flags.command) {
    case 'list':
      return listExecutions(flags, client, terminal)
    case 'cancel':
      return cancelExecution(flags, client, terminal)
    case 'state':
      return showState(flags, client, terminal)
    case 'explain':
      return explainStep(flags, client.history, terminal)
    case 'diff':
      return diffExecutions(flags, client.history, terminal)
    case 'export':
      return exportExecution(flags, client.history, terminal)
    case 'import':
      return importExecution(flags, client.history, terminal)
    case 'doctor':
      return examine(flags, client.history, terminal)
    default:
      return unreachable(flags)
  }
}

/** The first Ctrl-C leaves an answer that takes long; nobody reads it any more. */
const unlessInterrupted = async (
  answer: Promise<number>,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<number> => {
  const left = untilAborted(interrupted).then((): number => EXIT.interrupted)
  answer.catch(() => undefined)
  const exitCode = await Promise.race([answer, left])
  if (interrupted.aborted) terminal.live(null)
  return exitCode
}

const unreachable = (flags: never): never => {
  throw new Error(`unknown command ${JSON.stringify(flags)}`)
}
