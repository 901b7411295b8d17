/** The options of every command that asks a server, and what commander makes of them. */
import type { Command } from 'commander'
import type { ConnectFlags } from './program.ts'

/** Options as commander gives them: those of the connection, and the command's own. */
export type Raw = ConnectFlags & Readonly<Record<string, unknown>>

/** Where the server is, and how to get in. */
export const connected = (command: Command): Command =>
  command
    .option('--server <url>', 'the server to ask (env: NOETL_SERVER_URL)')
    .option('--data-dir <directory>', 'where the data lives (default: .noetl, env: NOETL_DATA_DIR)')
    .option('--token <token>', 'a token to show there (env: NOETL_TOKEN)')

export const connectOf = ({ server, dataDir, token }: Raw): ConnectFlags => ({
  ...(server === undefined ? {} : { server }),
  ...(dataDir === undefined ? {} : { dataDir }),
  ...(token === undefined ? {} : { token }),
})

export const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
