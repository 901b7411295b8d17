/**
 * `noetl replay`: an execution as its log tells it, in a few lines or as the server's own JSON.
 *
 * 1. The whole log is folded, however long it is.
 * 2. With `--json` stdout is the answer, digit for digit.
 */
import type { Client } from '../client/client.ts'
import { parseJson } from '../lib/exact-json.ts'
import { countOf } from './diagnostics.ts'
import { EXIT } from './failure.ts'
import { placeFlags } from './flag-values.ts'
import type { Terminal } from './terminal.ts'

export interface ReplayFlags {
  readonly execution: string
  readonly asOfEvent: string | null
  readonly asOfTime: string | null
  readonly asOfPosition: string | null
  readonly projection: string
  readonly resolvePayloads: boolean
  readonly json: boolean
}

/** What the lines are made of. */
interface Answer {
  readonly execution_id: string | number
  readonly event_count: number
  readonly last_event_id?: string | number
  readonly last_event_type?: string
  readonly last_position: number
  readonly execution: {
    readonly status: string
    readonly last_node_name?: string
    readonly payload_refs: readonly unknown[]
  }
  readonly stages: Records
  readonly frames: Records
  readonly commands: Records
  readonly business_objects: Records
  readonly loops: Readonly<Record<string, Loop>>
  readonly digest: { readonly algorithm: string; readonly value: string }
  readonly payload_resolution_summary?: { readonly total: number; readonly unresolved: number }
}

type Records = Readonly<Record<string, { readonly status: string }>>

interface Loop {
  readonly step_name?: string
  readonly total?: number | string
  readonly done: number
  readonly failed: number
  readonly completed: boolean
}

export const showReplay = async (
  flags: ReplayFlags,
  client: Pick<Client, 'replay'>,
  terminal: Terminal,
): Promise<number> => {
  const text = await client.replay(queryOf(flags))
  terminal.out(flags.json ? text : linesOf(parseJson(text) as Answer, terminal).join('\n'))
  return EXIT.ok
}

const queryOf = (flags: ReplayFlags): Record<string, string> => {
  const { event, position, time } = placeFlags(flags)
  return {
    execution_id: flags.execution,
    projection: flags.projection,
    limit: 'all',
    ...(event === null ? {} : { as_of_event_id: event }),
    ...(time === null ? {} : { as_of_time: time }),
    ...(position === null ? {} : { as_of_sequence: position }),
    ...(flags.resolvePayloads ? { resolve_payloads: 'true' } : {}),
  }
}

const linesOf = (answer: Answer, { style }: Terminal): readonly string[] => {
  const { execution } = answer
  const at = execution.last_node_name === undefined ? '' : `, last at step ${execution.last_node_name}`
  const last =
    answer.last_event_id === undefined
      ? ''
      : `; the last is ${answer.last_event_type} (${answer.last_event_id}, position ${answer.last_position})`
  const resolution = answer.payload_resolution_summary
  return [
    `${style.bold(`execution ${answer.execution_id}`)} ${execution.status}${at}`,
    `${countOf(answer.event_count, 'event')}${last}`,
    ...groupLines('stages', answer.stages),
    ...groupLines('frames', answer.frames),
    ...groupLines('commands', answer.commands),
    ...groupLines('business objects', answer.business_objects),
    ...Object.entries(answer.loops).map(loopLine),
    ...(execution.payload_refs.length > 0
      ? [countOf(execution.payload_refs.length, 'payload reference')]
      : []),
    ...(resolution
      ? [`payloads: ${resolution.total - resolution.unresolved} of ${resolution.total} are there`]
      : []),
    style.dim(`${answer.digest.algorithm} ${answer.digest.value}`),
  ]
}

/** `commands: 3 (2 COMPLETED, 1 RUNNING)`; nothing where there are none. */
const groupLines = (name: string, records: Records): readonly string[] => {
  const counts = new Map<string, number>()
  for (const { status } of Object.values(records)) counts.set(status, (counts.get(status) ?? 0) + 1)
  if (counts.size === 0) return []
  const parts = [...counts].map(([status, count]) => `${count} ${status}`)
  return [`${name}: ${Object.keys(records).length} (${parts.join(', ')})`]
}

const loopLine = ([id, loop]: [string, Loop]): string => {
  const of = loop.total === undefined ? '' : ` of ${loop.total}`
  const end = loop.completed ? ', completed' : ''
  return `loop ${loop.step_name ?? id}: ${loop.done} done${of}, ${loop.failed} failed${end}`
}
