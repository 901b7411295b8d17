/** `noetl replay` with what it needs around it. */
import type { ConnectFlags } from '../cli/program.ts'
import type { ReplayFlags } from '../cli/replay.ts'
import { showReplay } from '../cli/replay.ts'
import type { CommandContext } from './command-context.ts'
import { withClient } from './with-client.ts'

export const replay = (flags: ReplayFlags & ConnectFlags, context: CommandContext): Promise<number> =>
  withClient(flags, context, (client) => showReplay(flags, client, context.terminal))
