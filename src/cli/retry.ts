/** `noetl retry`: opens a failed execution again and runs what failed in it. */
import type { Client } from '../client/client.ts'
import { countOf } from './diagnostics.ts'
import { EXIT } from './failure.ts'
import { editsOf } from './rerun.ts'
import type { Terminal } from './terminal.ts'
import { waitForEnd } from './wait-for-end.ts'

export interface RetryFlags {
  readonly command: 'retry'
  readonly execution: string
  readonly steps: readonly string[]
  /** Each as `name=value`. */
  readonly vars: readonly string[]
  readonly reason: string | null
  readonly wait: boolean
  readonly json: boolean
}

export const retryExecution = async (
  flags: RetryFlags,
  client: Pick<Client, 'history' | 'follow'>,
  terminal: Terminal,
): Promise<number> => {
  const { execution, steps, vars, reason } = flags
  const variables = editsOf({ set: vars, payload: null }, '--var')
  const answer = await client.history.retry(execution, {
    ...(steps.length === 0 ? {} : { steps }),
    ...(vars.length === 0 ? {} : { variables }),
    ...(reason === null ? {} : { reason }),
  })
  const running = answer.steps.join(', ') || 'nothing; it ended at once'
  terminal.out(
    flags.json
      ? JSON.stringify(answer)
      : `execution ${execution} runs again, ${countOf(answer.commands_generated, 'command')}: ${running}`,
  )
  return flags.wait ? waitForEnd(execution, client, terminal) : EXIT.ok
}
