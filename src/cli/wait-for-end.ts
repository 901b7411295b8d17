/** Waits for the end of an execution and says how it ended. */
import type { Client } from '../client/client.ts'
import { EXECUTION_EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** Answers the exit code that its end stands for. */
export const waitForEnd = async (
  executionId: string,
  client: Pick<Client, 'follow'>,
  terminal: Terminal,
): Promise<number> => {
  for await (const followed of client.follow(executionId)) {
    if (followed.type !== 'end') continue
    const { status, error } = followed.end
    terminal.err(`${status.toLowerCase()}${error === null ? '' : `: ${error}`}`)
    return EXECUTION_EXIT[status]
  }
  throw new Error(`the stream of execution ${executionId} stopped before its end`)
}
