/** `noetl explain`: why a step ran, did not run, or waits. */
import type { HistoryClient } from '../client/history.ts'
import { EXIT } from './failure.ts'
import { wholeNumberFlag } from './flag-values.ts'
import type { Terminal } from './terminal.ts'

export interface ExplainFlags {
  readonly command: 'explain'
  readonly execution: string
  readonly step: string
  readonly run: string | null
  readonly json: boolean
}

export const explainStep = async (
  { execution, step, run: givenRun, json }: ExplainFlags,
  client: Pick<HistoryClient, 'explain'>,
  terminal: Terminal,
): Promise<number> => {
  const run = wholeNumberFlag('--run', givenRun, { least: 1n, most: 1_000_000_000n })
  const answer = await client.explain(execution, { step, ...(run === null ? {} : { run }) })
  terminal.out(json ? JSON.stringify(answer, null, 2) : answer.text)
  return EXIT.ok
}
