/**
 * `noetl retry`: opens a failed execution again and runs what failed in it.
 *
 * 1. With `--wait` only what happens from then on is shown.
 * 2. With `--json` stdout holds exactly one JSON document; with `--wait` it tells the end, too.
 */
import type { Client } from '../client/client.ts'
import { countOf } from './diagnostics.ts'
import { EXIT } from './failure.ts'
import { editsOf } from './rerun.ts'
import type { Terminal } from './terminal.ts'
import type { WaitClient, Waiting } from './wait-for-end.ts'
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
  client: WaitClient & Pick<Client, 'history'>,
  terminal: Terminal,
  waiting: Waiting,
): Promise<number> => {
  const { execution, steps, vars, reason } = flags
  const variables = editsOf({ set: vars, payload: null }, '--var')
  const before = flags.wait ? await client.history.state(execution) : null
  const answer = await client.history.retry(execution, {
    ...(steps.length === 0 ? {} : { steps }),
    ...(vars.length === 0 ? {} : { variables }),
    ...(reason === null ? {} : { reason }),
  })
  const running = answer.steps.join(', ') || 'nothing; it ended at once'
  if (!flags.json)
    terminal.out(
      `execution ${execution} runs again, ${countOf(answer.commands_generated, 'command')}: ${running}`,
    )
  else if (!flags.wait) terminal.out(JSON.stringify(answer))
  if (before === null) return EXIT.ok
  return waitForEnd({
    ...waiting,
    executionId: execution,
    client,
    terminal,
    stepNames: before.steps.map(({ step }) => step),
    after: before.last_position,
    json: flags.json ? answer : null,
  })
}
