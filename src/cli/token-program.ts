/** The `token` command as it is asked for and explained. */
import type { Command } from 'commander'
import { Option } from 'commander'
import { ROLES } from '../contract/access.ts'
import type { Role } from '../contract/access.ts'
import { ProblemError } from '../contract/problem.ts'
import { tokenArgument } from './flag-values.ts'
import { helpAfter } from './help-text.ts'
import type { ConnectFlags } from './program.ts'
import type { TokenFlags } from './token.ts'
import { parseExpiry } from './token.ts'

type Flags = ConnectFlags & { readonly json?: boolean }

export const addToken = (
  program: Command,
  action: (flags: TokenFlags & ConnectFlags) => Promise<void>,
): void => {
  const token = program
    .command('token')
    .description('make, list and revoke access tokens')
    .addHelpText(
      'after',
      `
Roles:
  viewer    looks at everything but secrets
  operator  also registers playbooks, starts and stops executions
  worker    takes work and reports it, sees the secrets it works with
  admin     everything, secrets and tokens included

Goes to the server of the data directory or at http://127.0.0.1:8082 if one is up, else straight to the database. The
first token closes a server to callers without one.

Examples:
  noetl token create --role admin --name me
  noetl token create --role operator --name ci --expires 90d
  noetl token list --all
  noetl token revoke 3`,
    )
  common(token.command('create').description('make a token and print it; it is shown this once'))
    .addOption(new Option('--role <role>', 'what it allows').choices(ROLES).makeOptionMandatory())
    .requiredOption('--name <name>', 'whom or what it is for; logs show it')
    .option('--expires <time>', 'when it ends, such as 90d, 12h or 30m (default: never)')
    .addHelpText(
      'after',
      helpAfter(
        [
          'noetl token create --role admin --name me',
          'noetl token create --role worker --name farm --expires 90d',
          'NOETL_TOKEN=$(noetl token create --role operator --name ci)',
        ],
        'noetl help token tells what the roles may do. The token alone goes to stdout.',
      ),
    )
    .action(({ role, name, expires, ...flags }: Flags & { role: Role; name: string; expires?: string }) => {
      // Said before a database is opened for it.
      if (name.trim() === '') throw new ProblemError('invalid', '--name is empty; say whom or what it is for')
      if (expires !== undefined) parseExpiry(expires)
      return action({ ...rest(flags), verb: 'create', role, name, expires: expires ?? null })
    })
  common(token.command('list').description('list tokens, without the tokens themselves'))
    .option('--all', 'those that were revoked, too')
    .addHelpText('after', helpAfter(['noetl token list', 'noetl token list --all --json']))
    .action(({ all, ...flags }: Flags & { all?: boolean }) =>
      action({ ...rest(flags), verb: 'list', includeRevoked: all ?? false }),
    )
  common(token.command('revoke').description('end a token now'))
    .argument('<id>', 'its number in the list', tokenArgument)
    .addHelpText('after', helpAfter(['noetl token revoke 3']))
    .action((id: string, flags: Flags) => action({ ...rest(flags), verb: 'revoke', id }))
}

const common = (command: Command): Command =>
  command
    .option('--server <url>', 'the server (env: NOETL_SERVER_URL)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--token <token>', "an admin's token to show there (env: NOETL_TOKEN)")
    .option('--json', 'print one JSON document instead of lines')

const rest = ({ json, ...flags }: Flags): ConnectFlags & { readonly json: boolean } => ({
  ...flags,
  json: json ?? false,
})
