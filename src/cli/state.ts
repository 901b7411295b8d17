/**
 * `noetl state`: an execution as it stood at any place of its log.
 *
 * 1. The data of the one step that is asked for is whole, also where it is stored apart; only at a terminal it is cut.
 */
import type { HistoryClient } from '../client/history.ts'
import type { StateAnswer } from '../contract/api-history.ts'
import type { Json } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { EXIT } from './failure.ts'
import { placeFlags } from './flag-values.ts'
import { resultLines } from './result-lines.ts'
import type { Terminal } from './terminal.ts'
import type { DataSource } from './whole-data.ts'
import { wholeData } from './whole-data.ts'

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
  client: DataSource & { readonly history: Pick<HistoryClient, 'state'> },
  terminal: Terminal,
): Promise<number> => {
  const { event, position, time } = placeFlags(flags)
  const found = await client.history.state(flags.execution, {
    ...(event === null ? {} : { as_of_event_id: event }),
    ...(position === null ? {} : { as_of_position: position }),
    ...(time === null ? {} : { as_of_time: time }),
    ...(flags.step === null ? {} : { step: flags.step }),
  })
  const answer = flags.step === null ? found : await withWholeData(found, client)
  const lines = (): readonly string[] => [
    ...stateLines(answer, terminal, flags.step !== null),
    ...(flags.step === null ? [] : dataLines(answer.steps, terminal)),
  ]
  terminal.out(flags.json ? JSON.stringify(answer, null, 2) : lines().join('\n'))
  return EXIT.ok
}

const withWholeData = async (answer: StateAnswer, client: DataSource): Promise<StateAnswer> => {
  const steps: StepShown[] = []
  for (const step of answer.steps)
    steps.push(step.data === undefined ? step : { ...step, data: await wholeData(step.data, client) })
  return { ...answer, steps }
}

/** Of the step that was asked for. */
const dataLines = (steps: readonly StepShown[], terminal: Terminal): readonly string[] => {
  const indented = { ...terminal, columns: () => terminal.columns() - INDENT.length }
  return steps.flatMap(({ data }) =>
    data === undefined
      ? []
      : section('data', resultLines(JSON.stringify(data, null, 2), indented, 'with --json'), terminal.style),
  )
}

const stateLines = (state: StateAnswer, { style }: Terminal, dataApart: boolean): readonly string[] => [
  `${style.bold(state.path)} ${state.status} ${style.dim(`at position ${state.position} of ${state.last_position}, ${state.at}`)}`,
  ...(state.error === null ? [] : [style.red(state.error)]),
  ...(state.origin ? [style.dim(`rerun of ${state.origin.execution_id}`)] : []),
  ...section('variables', membersOf(state.variables), style),
  ...section('steps', stepLines(state.steps, dataApart), style),
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

const INDENT = '  '

const section = (title: string, lines: readonly string[], style: Terminal['style']): readonly string[] =>
  lines.length === 0 ? [] : ['', style.bold(title), ...lines.map((line) => `${INDENT}${line}`)]

const membersOf = (value: Json): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).map(([name, item]) => `${name} = ${shortly(item)}`)
    : []

const LONGEST = 100
const WIDEST_NAME = 32

const shortly = (value: Json): string => {
  const text = JSON.stringify(value)
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`
}

type StepShown = StateAnswer['steps'][number]

const stepLines = (steps: readonly StepShown[], dataApart: boolean): readonly string[] => {
  const width = Math.min(WIDEST_NAME, Math.max(0, ...steps.map((shown) => nameOf(shown).length)))
  return steps.map((shown) => stepLine(shown, width, dataApart))
}

const nameOf = ({ step, run }: StepShown): string => (run > 1 ? `${step} (run ${run})` : step)

const stepLine = (shown: StepShown, width: number, dataApart: boolean): string => {
  const { state, loop, error, data } = shown
  const progress = loop ? `  ${loop.done} of ${loop.total} done, ${loop.running} running` : ''
  const message = isObject(error) && typeof error['message'] === 'string' ? `  ${error['message']}` : ''
  const result = data === undefined || loop || dataApart ? '' : `  ${shortly(data)}`
  return `${nameOf(shown).padEnd(width)}  ${state.replaceAll('_', ' ')}${progress}${message}${result}`
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
