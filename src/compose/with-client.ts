/**
 * A command that asks a server: connects, does its work, leaves nothing open, and ends when the user wants it to. One that
 * brings something, too (`makesData`), may begin with a data directory of its own.
 */
import type { ConnectFlags } from '../cli/program.ts'
import type { Client } from '../client/client.ts'
import type { CommandContext } from './command-context.ts'
import { connect } from './connect.ts'
import { listenForInterrupts } from './interrupts.ts'

export const withClient = async (
  flags: ConnectFlags,
  context: CommandContext,
  work: (client: Client, interrupted: AbortSignal, isOwnServer: boolean) => Promise<number>,
  { makesData = false }: { readonly makesData?: boolean } = {},
): Promise<number> => {
  const { terminal } = context
  const interrupts = listenForInterrupts((exitCode) => context.exit(exitCode))
  try {
    const {
      client,
      close,
      isOwnServer = false,
    } = await connect(
      {
        server: flags.server ?? null,
        dataDir: flags.dataDir ?? null,
        token: flags.token ?? null,
        makesData,
        tell: (line) => terminal.err(terminal.errorStyle.dim(line)),
        interrupted: interrupts.signal,
      },
      context,
    )
    try {
      return await work(client, interrupts.signal, isOwnServer)
    } finally {
      await close()
    }
  } finally {
    interrupts.release()
  }
}
