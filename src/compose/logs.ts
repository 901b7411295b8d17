/** `noetl logs` with what it needs around it. */
import type { LogsFlags } from '../cli/logs.ts'
import { showLogs } from '../cli/logs.ts'
import type { ConnectFlags } from '../cli/program.ts'
import type { CommandContext } from './command-context.ts'
import { withClient } from './with-client.ts'

export const logs = (flags: LogsFlags & ConnectFlags, context: CommandContext): Promise<number> =>
  withClient(flags, context, (client, interrupted) => showLogs(flags, client, context.terminal, interrupted))
