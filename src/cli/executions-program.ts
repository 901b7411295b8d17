/** The commands that find and end executions, as they are asked for and explained. */
import type { Command } from 'commander'
import type { Raw } from './connect-options.ts'
import { connected, connectOf, text } from './connect-options.ts'
import { executionArgument } from './flag-values.ts'
import { helpAfter, WHICH_SERVER } from './help-text.ts'
import type { Act } from './history-program.ts'

export const addExecutions = (program: Command, act: Act): void => {
  addList(program, act)
  addCancel(program, act)
}

const addList = (program: Command, act: Act): void => {
  connected(program.command('list'))
    .description('list executions, newest first')
    .option('--status <status>', 'only those that are running, completed, failed or cancelled')
    .option('--path <text>', 'only those of playbooks with this in their path, in any case')
    .option('--limit <number>', 'how many at most (default: 20)')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl list',
          'noetl list --status failed --path billing',
          'noetl list --status running --limit 500 --json',
        ],
        WHICH_SERVER,
      ),
    )
    .action((raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'list',
        status: text(raw['status']),
        path: text(raw['path']),
        limit: text(raw['limit']),
        json: raw['json'] === true,
      }),
    )
}

const addCancel = (program: Command, act: Act): void => {
  connected(program.command('cancel'))
    .description('cancel an execution and those that it started')
    .argument('<execution>', 'the id of the execution', executionArgument)
    .option('--reason <text>', 'to be recorded with it')
    .option('--no-cascade', 'let those that it started go on')
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      helpAfter(
        ['noetl cancel 377081312', 'noetl cancel 377081312 --reason "wrong month" --no-cascade'],
        'Cancelling again cancels what is left below it.',
        'Exit code: 0 when something was cancelled, 1 when the execution is over already.',
        WHICH_SERVER,
      ),
    )
    .action((execution: string, raw: Raw) =>
      act({
        ...connectOf(raw),
        command: 'cancel',
        execution,
        reason: text(raw['reason']),
        cascade: raw['cascade'] !== false,
        json: raw['json'] === true,
      }),
    )
}
