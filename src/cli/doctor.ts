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

/** What is counted, as it is told. */
const EXAMINED = [
  ['checked', 'execution'],
  ['events', 'event'],
  ['snapshots', 'snapshot'],
  ['timers', 'timer'],
  ['results', 'stored result'],
] as const

const COUNTS = [
  ...EXAMINED.map(([name]) => name),
  'idle_timers',
  'unreferenced_results',
  'unreferenced_bytes',
] as const

type Sum = { [Name in (typeof COUNTS)[number]]: number } & Pick<DoctorAnswer, 'differences'>

export const examine = async (
  { execution, json }: DoctorFlags,
  client: Pick<HistoryClient, 'doctor'>,
  terminal: Terminal,
): Promise<number> => {
  const sum = { ...Object.fromEntries(COUNTS.map((name) => [name, 0])), differences: [] } as unknown as Sum
  for (let after: string | null = null; ;) {
    const page: DoctorAnswer = await client.doctor({
      ...(execution === null ? {} : { execution_id: execution }),
      ...(after === null ? {} : { after }),
    })
    for (const name of COUNTS) sum[name] += page[name]
    sum.differences.push(...page.differences)
    if (!json) for (const difference of page.differences) terminal.out(differenceLine(difference, terminal))
    if (page.next === null) break
    after = page.next
    terminal.live(`${countOf(sum.checked, 'execution')} examined`)
  }
  terminal.live(null)
  const isHealthy = sum.differences.length === 0
  if (json) terminal.out(JSON.stringify({ healthy: isHealthy, ...sum }, null, 2))
  else for (const line of [verdict(sum, terminal), ...remarks(sum)]) terminal.out(line)
  return isHealthy ? EXIT.ok : EXIT.failed
}

/** Of these the message says all. */
const VALUES_SAY_NOTHING: readonly string[] = ['no_cause', 'timer']

const differenceLine = (
  { execution_id, kind, message, stored, folded }: DoctorAnswer['differences'][number],
  { style }: Terminal,
): string => {
  const values =
    VALUES_SAY_NOTHING.includes(kind) || (stored === null && folded === null)
      ? ''
      : `: stored ${JSON.stringify(stored)}, by the log ${JSON.stringify(folded)}`
  return `${style.red('✗')} ${execution_id}  ${message}${values}`
}

const verdict = (sum: Sum, { style }: Terminal): string => {
  const parts = EXAMINED.map(([name, noun]) => countOf(sum[name], noun))
  const looked = `${parts.join(', ')} examined`
  return sum.differences.length === 0
    ? `${style.green('✓')} ${looked}: everything stored is what the logs say`
    : `${looked}: ${countOf(sum.differences.length, 'difference')}`
}

/** What is as it should be and still worth knowing. */
const remarks = ({ idle_timers, unreferenced_results, unreferenced_bytes }: Sum): readonly string[] => [
  ...(idle_timers === 0
    ? []
    : [`  ${countOf(idle_timers, 'timer')} with nothing left to tell: each goes away when it is due`]),
  ...(unreferenced_results === 0
    ? []
    : [
        `  ${countOf(unreferenced_results, 'stored result')} (${sizeText(unreferenced_bytes)}) that no event refers to: left by reports` +
          ' that came too late, or stored through the API; they go with the results of their execution (DELETE /api/result/ID)',
      ]),
]

const sizeText = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${Math.ceil(bytes / 1024 / 1024)} MB`
