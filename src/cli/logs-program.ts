/** The `logs` command as it is asked for and explained. */
import type { Command } from 'commander'
import { executionArgument } from './flag-values.ts'
import { helpAfter, WHICH_SERVER } from './help-text.ts'
import type { LogsFlags } from './logs.ts'
import type { ConnectFlags } from './program.ts'

interface RawFlags extends ConnectFlags {
  readonly step?: string
  readonly follow?: boolean
  readonly json?: boolean
}

export const addLogs = (
  program: Command,
  action: (flags: LogsFlags & ConnectFlags) => Promise<void>,
): void => {
  program
    .command('logs')
    .description('show what the tools of an execution print')
    .argument('<execution>', 'the id of the execution', executionArgument)
    .option('--step <name>', 'only of this step')
    .option('-f, --follow', 'go on until the execution is over')
    .option('--server <url>', 'the server to ask (env: NOETL_SERVER_URL)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--token <token>', 'a token to show there (env: NOETL_TOKEN)')
    .option('--json', 'print one JSON document per line, for each piece of output')
    .addHelpText(
      'after',
      helpAfter(
        ['noetl logs 377081312 --follow', 'noetl logs 377081312 --step load | grep -i error'],
        'What tools printed on stderr goes to stderr. Ctrl-C ends the following, not the execution.',
        WHICH_SERVER,
      ),
    )
    .action((execution: string, { step, follow, json, ...connect }: RawFlags) =>
      action({ ...connect, execution, step: step ?? null, follow: follow ?? false, json: json ?? false }),
    )
}
