/** The `replay` command as it is asked for and explained. */
import type { Command } from 'commander'
import { executionArgument } from './flag-values.ts'
import { helpAfter, WHICH_SERVER } from './help-text.ts'
import type { ConnectFlags } from './program.ts'
import type { ReplayFlags } from './replay.ts'

interface RawFlags extends ConnectFlags {
  readonly asOfEvent?: string
  readonly asOfTime?: string
  readonly asOfPosition?: string
  readonly projection?: string
  readonly resolvePayloads?: boolean
  readonly json?: boolean
}

export const addReplay = (
  program: Command,
  action: (flags: ReplayFlags & ConnectFlags) => Promise<void>,
): void => {
  program
    .command('replay')
    .description('show an execution as its log tells it, now or at any point of the past')
    .argument('<execution>', 'the id of the execution', executionArgument)
    .option('--as-of-event <id>', 'up to the event with this id')
    .option('--as-of-time <instant>', 'up to this instant, such as 2026-01-31T12:00:00Z')
    .option('--as-of-position <number>', 'up to this position of the log')
    .option(
      '--projection <name>',
      'execution, stage, frame, command, business_object, loop or all (default: all)',
    )
    .option('--resolve-payloads', 'look whether the data behind references is still there')
    .option('--server <url>', 'the server to ask (env: NOETL_SERVER_URL)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--token <token>', 'a token to show there (env: NOETL_TOKEN)')
    .option('--json', "print the server's answer, every digit of it, instead of lines")
    .addHelpText(
      'after',
      helpAfter(
        ['noetl replay 377081312', 'noetl replay 377081312 --as-of-position 40 --projection command --json'],
        WHICH_SERVER,
      ),
    )
    .action((execution: string, flags: RawFlags) => {
      const { asOfEvent, asOfTime, asOfPosition, projection, resolvePayloads, json, ...connect } = flags
      return action({
        ...connect,
        execution,
        asOfEvent: asOfEvent ?? null,
        asOfTime: asOfTime ?? null,
        asOfPosition: asOfPosition ?? null,
        projection: projection ?? 'all',
        resolvePayloads: resolvePayloads ?? false,
        json: json ?? false,
      })
    })
}
