/** `noetl state`: an execution as it stood at any place of its log. */
import type { HistoryClient } from '../client/history.ts'
import type { StateAnswer } from '../contract/api-history.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface StateFlags {
  readonly command: 'state'
  readonly execution: string
  readonly asOfEvent: string | null
  readonly asOfPosition: string | null
  readonly asOfTime: string | null
  readonly step: string | null
  readonly json: boolean
}

export const showState = async (
  flags: StateFlags,
  client: Pick<HistoryClient, 'state'>,
  terminal: Terminal,
): Promise<number> => {
  const answer = await client.state(flags.execution, {
    ...(flags.asOfEvent === null ? {} : { as_of_event_id: flags.asOfEvent }),
    ...(flags.asOfPosition === null ? {} : { as_of_position: flags.asOfPosition }),
    ...(flags.asOfTime === null ? {} : { as_of_time: flags.asOfTime }),
    ...(flags.step === null ? {} : { step: flags.step }),
  })
  terminal.out(flags.json ? JSON.stringify(answer, null, 2) : stateLines(answer, terminal).join('\n'))
  return EXIT.ok
}

const stateLines = (state: StateAnswer, { style }: Terminal): readonly string[] => [
  `${style.bold(state.path)} ${state.status} ${style.dim(`at position ${state.position} of ${state.last_position}, ${state.at}`)}`,
  ...(state.error === null ? [] : [style.red(state.error)]),
  ...(state.origin ? [style.dim(`rerun of ${state.origin.execution_id}`)] : []),
  ...section('variables', membersOf(state.variables), style),
  ...section('steps', state.steps.map(stepLine), style),
  ...section(
    'about to start',
    state.tokens.map(({ from, to }) => (from === null ? to : `${to}  after ${from}`)),
    style,
  ),
  ...section('waits', state.commands.map(commandLine), style),
  ...(state.commands_total > state.commands.length
    ? [`  and ${state.commands_total - state.commands.length} more`]
    : []),
]

const section = (title: string, lines: readonly string[], style: Terminal['style']): readonly string[] =>
  lines.length === 0 ? [] : ['', style.bold(title), ...lines.map((line) => `  ${line}`)]

const membersOf = (value: Json): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, item]) => `${name} = ${shortly(item)}`)
    : []

const LONGEST = 100

const shortly = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`
}

const stepLine = ({ step, state, run, loop, error, data }: StateAnswer['steps'][number]): string => {
  const runs = run > 1 ? ` (run ${run})` : ''
  const progress = loop ? `  ${loop.done} of ${loop.total} done, ${loop.running} running` : ''
  const message = isObject(error) && typeof error['message'] === 'string' ? `  ${error['message']}` : ''
  const result = data === undefined || loop ? '' : `  ${shortly(data)}`
  return `${step}${runs}  ${state}${progress}${message}${result}`
}

const commandLine = ({ step, index, waits }: StateAnswer['commands'][number]): string => {
  const name = index === null ? step : `${step}[${index}]`
  const until = waits.until ? ` until ${waits.until}` : ''
  if (waits.for === 'worker') return `${name}  for a worker of the pool ${waits.pool ?? ''}`
  if (waits.for === 'report') return `${name}  for ${waits.worker ?? ''}, which holds it${until}`
  if (waits.for === 'child')
    return `${name}  for the end of execution ${waits.child_execution_id ?? ''}${until}`
  return `${name}  for an answer from outside${until}`
}
