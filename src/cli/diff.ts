/** `noetl diff`: two executions beside each other. The exit code is 1 when they differ. */
import type { HistoryClient } from '../client/history.ts'
import type { DiffAnswer } from '../contract/api-history.ts'
import { durationText } from './duration.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface DiffFlags {
  readonly command: 'diff'
  readonly a: string
  readonly b: string
  readonly json: boolean
}

export const diffExecutions = async (
  { a, b, json }: DiffFlags,
  client: Pick<HistoryClient, 'diff'>,
  terminal: Terminal,
): Promise<number> => {
  const answer = await client.diff(a, b)
  terminal.out(json ? JSON.stringify(answer, null, 2) : diffLines(answer, terminal).join('\n'))
  return answer.same ? EXIT.ok : EXIT.failed
}

type Side = DiffAnswer['a']
type Step = DiffAnswer['steps'][number]
type Change = DiffAnswer['workload'][number]

const diffLines = (diff: DiffAnswer, { style }: Terminal): readonly string[] => [
  sideLine('a', diff.a, style),
  sideLine('b', diff.b, style),
  ...(diff.same_definition && diff.a.version !== diff.b.version
    ? [style.dim('   both versions have the same definition')]
    : []),
  '',
  diff.first_difference === null
    ? style.green('no difference')
    : `${style.bold('first difference')}  ${diff.first_difference.text}`,
  ...section('workload', diff.workload.map(changeLine), style),
  ...section('steps', stepLines(diff, style), style),
  ...section('result', diff.result.map(changeLine), style),
]

const sideLine = (name: string, side: Side, style: Terminal['style']): string => {
  const { execution_id: id, path, version, status, duration_ms: duration, error } = side
  const took = duration === null ? '' : ` after ${durationText(duration)}`
  const origin = side.origin_execution_id === null ? '' : style.dim(`, rerun of ${side.origin_execution_id}`)
  return `${style.bold(name)}  ${id}  ${path ?? ''} version ${version ?? '?'}  ${status}${took}${origin}${error === null ? '' : `\n   ${style.red(error)}`}`
}

const section = (title: string, lines: readonly string[], style: Terminal['style']): readonly string[] =>
  lines.length === 0 ? [] : ['', style.bold(title), ...lines.map((line) => `  ${line}`)]

const stepLines = (
  { steps, steps_total: total }: DiffAnswer,
  style: Terminal['style'],
): readonly string[] => {
  const width = Math.max(...steps.map((step) => nameOf(step).length), 0)
  return [
    ...steps.flatMap((step) => [stepLine(step, width, style), ...detailLines(step)]),
    ...(steps.length < total
      ? [style.dim(`${total - steps.length} more that are the same or not shown`)]
      : []),
  ]
}

const nameOf = ({ step, run }: Step): string => (run === 1 ? step : `${step} (run ${run})`)

const stepLine = (step: Step, width: number, style: Terminal['style']): string => {
  const name = nameOf(step).padEnd(width)
  const { a, b } = step
  if (!b) return style.red(`- ${name}  ${a?.outcome ?? ''}, only in a`)
  if (!a) return style.green(`+ ${name}  ${b.outcome}, only in b`)
  const outcome = a.outcome === b.outcome ? a.outcome : `${a.outcome} → ${b.outcome}`
  const times = `${timeText(a.duration_ms)} → ${timeText(b.duration_ms)}`
  if (step.differs.length === 0) return style.dim(`= ${name}  ${outcome}  ${times}`)
  return style.yellow(`≠ ${name}  ${outcome}  ${times}  (${step.differs.join(', ')})`)
}

const timeText = (duration: number | null): string => (duration === null ? '…' : durationText(duration))

const detailLines = ({ differs, a, b, input, result }: Step): readonly string[] => [
  ...input.map((change) => `    input ${changeLine(change)}`),
  ...result.map((change) => `    result ${changeLine(change)}`),
  ...(differs.includes('routing')
    ? [`    leads to ${a?.next.join(', ') || 'nothing'} → ${b?.next.join(', ') || 'nothing'}`]
    : []),
  ...(a && b && a.error !== b.error ? [`    error ${a.error ?? 'none'} → ${b.error ?? 'none'}`] : []),
]

const LONGEST = 60

const shortly = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`
}

const changeLine = ({ path, kind, a, b }: Change): string => {
  const name = path === '' ? '' : `${path}: `
  if (kind === 'added') return `${name}→ ${shortly(b)}`
  if (kind === 'removed') return `${name}${shortly(a)} →`
  return `${name}${shortly(a)} → ${shortly(b)}`
}
