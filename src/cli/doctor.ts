/** `noetl doctor`: whether what is stored is what the logs say. The exit code is 1 when it is not. */
import type { HistoryClient } from '../client/history.ts'
import type { DoctorAnswer } from '../contract/api-history.ts'
import { countOf } from './diagnostics.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface DoctorFlags {
  readonly command: 'doctor'
  /** Null for all of them. */
  readonly execution: string | null
  readonly json: boolean
}

export const examine = async (
  { execution, json }: DoctorFlags,
  client: Pick<HistoryClient, 'doctor'>,
  terminal: Terminal,
): Promise<number> => {
  const sum = { checked: 0, events: 0, snapshots: 0, differences: [] as DoctorAnswer['differences'] }
  for (let after: string | null = null; ;) {
    const page: DoctorAnswer = await client.doctor({
      ...(execution === null ? {} : { execution_id: execution }),
      ...(after === null ? {} : { after }),
    })
    sum.checked += page.checked
    sum.events += page.events
    sum.snapshots += page.snapshots
    sum.differences.push(...page.differences)
    if (!json) for (const difference of page.differences) terminal.out(differenceLine(difference, terminal))
    if (page.next === null) break
    after = page.next
    terminal.live(`${countOf(sum.checked, 'execution')} examined`)
  }
  terminal.live(null)
  const isHealthy = sum.differences.length === 0
  if (json) terminal.out(JSON.stringify({ healthy: isHealthy, ...sum }, null, 2))
  else terminal.out(verdict(sum, terminal))
  return isHealthy ? EXIT.ok : EXIT.failed
}

const differenceLine = (
  { execution_id, kind, message, stored, folded }: DoctorAnswer['differences'][number],
  { style }: Terminal,
): string => {
  const values =
    kind === 'no_cause' || (stored === null && folded === null)
      ? ''
      : `: stored ${JSON.stringify(stored)}, by the log ${JSON.stringify(folded)}`
  return `${style.red('✗')} ${execution_id}  ${message}${values}`
}

const verdict = (
  { checked, events, snapshots, differences }: Omit<DoctorAnswer, 'healthy' | 'next'>,
  { style }: Terminal,
): string => {
  const looked = `${countOf(checked, 'execution')}, ${countOf(events, 'event')}, ${countOf(snapshots, 'snapshot')} examined`
  return differences.length === 0
    ? `${style.green('✓')} ${looked}: everything stored is what the logs say`
    : `${looked}: ${countOf(differences.length, 'difference')}`
}
