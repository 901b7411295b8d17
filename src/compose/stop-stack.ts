/** Stops a stack and says what takes long. */
import type { Terminal } from '../cli/terminal.ts'
import type { Stack } from './stack.ts'

export const stopStack = (stack: Stack, terminal: Terminal): Promise<void> =>
  stack.stop((what) => terminal.err(`Waiting for ${what}`))
