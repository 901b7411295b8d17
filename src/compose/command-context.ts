/** What every command gets from main.ts. */
import type { Terminal } from '../cli/terminal.ts'
import type { Env } from './settings.ts'

export interface CommandContext {
  readonly env: Env
  readonly version: string
  readonly terminal: Terminal
  /** Ends the process now. */
  readonly exit: (exitCode: number) => void
  readonly workingDirectory: string
  /** Where this program is installed. */
  readonly homeDirectory: string
}
