/** The commands along the history of executions, with what they need around them. */
import type { Client } from '../client/client.ts'
import { diffExecutions } from '../cli/diff.ts'
import { examine } from '../cli/doctor.ts'
import { explainStep } from '../cli/explain.ts'
import { exportExecution } from '../cli/export.ts'
import type { HistoryFlags } from '../cli/history-program.ts'
import { importExecution } from '../cli/import.ts'
import { rerunExecution } from '../cli/rerun.ts'
import { retryExecution } from '../cli/retry.ts'
import { showState } from '../cli/state.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { CommandContext } from './command-context.ts'
import { withClient } from './with-client.ts'

export const history = (flags: HistoryFlags, context: CommandContext): Promise<number> =>
  withClient(flags, context, (client) => act(flags, client, context.terminal))

const act = async (flags: HistoryFlags, client: Client, terminal: Terminal): Promise<number> => {
  switch (flags.command) {
    case 'state':
      return showState(flags, client.history, terminal)
    case 'explain':
      return explainStep(flags, client.history, terminal)
    case 'rerun':
      return rerunExecution(flags, client, terminal)
    case 'retry':
      return retryExecution(flags, client, terminal)
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

const unreachable = (flags: never): never => {
  throw new Error(`unknown command ${JSON.stringify(flags)}`)
}
