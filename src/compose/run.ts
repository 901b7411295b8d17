/** `noetl run` with what it needs around it. */
import type { ConnectFlags } from '../cli/program.ts'
import type { RunFlags } from '../cli/run.ts'
import { runPlaybook } from '../cli/run.ts'
import type { CommandContext } from './command-context.ts'
import { connect } from './connect.ts'
import { listenForInterrupts } from './interrupts.ts'

export const run = async (flags: RunFlags & ConnectFlags, context: CommandContext): Promise<number> => {
  const { terminal } = context
  const interrupts = listenForInterrupts((exitCode) => {
    terminal.live(null)
    context.exit(exitCode)
  })
  try {
    return await runPlaybook({
      flags,
      terminal,
      interrupted: interrupts.signal,
      connect: () =>
        connect(
          {
            server: flags.server ?? null,
            dataDir: flags.dataDir ?? null,
            token: flags.token ?? null,
            makesData: true,
            tell: (line) => terminal.err(terminal.errorStyle.dim(line)),
            interrupted: interrupts.signal,
          },
          context,
        ),
    })
  } finally {
    interrupts.release()
  }
}
