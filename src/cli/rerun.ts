/** `noetl rerun`: runs an execution again as a new one. */
import type { Client } from '../client/client.ts'
import type { JsonObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { EXIT } from './failure.ts'
import type { PayloadFlags } from './payload.ts'
import { buildPayload } from './payload.ts'
import { readText } from './read-text.ts'
import type { Terminal } from './terminal.ts'
import { waitForEnd } from './wait-for-end.ts'

export interface RerunFlags extends PayloadFlags {
  readonly command: 'rerun'
  readonly execution: string
  /** `start` or `failed`; null when a step or an event is given. */
  readonly from: string | null
  readonly fromStep: string | null
  readonly fromEvent: string | null
  readonly version: string | null
  /** Each as `name=value`. */
  readonly vars: readonly string[]
  readonly wait: boolean
  readonly json: boolean
}

export const rerunExecution = async (
  flags: RerunFlags,
  client: Pick<Client, 'history' | 'follow'>,
  terminal: Terminal,
): Promise<number> => {
  const answer = await client.history.rerun(flags.execution, requestOf(flags))
  const { execution_id: id, kept_steps: kept, dropped_steps: dropped } = answer
  if (flags.json) terminal.out(JSON.stringify(answer))
  else {
    terminal.out(`execution ${id}, a rerun of ${flags.execution}`)
    if (kept.length > 0) terminal.out(`kept     ${kept.join(', ')}`)
    if (dropped.length > 0) terminal.out(`dropped  ${dropped.join(', ')}`)
  }
  return flags.wait ? waitForEnd(id, client, terminal) : EXIT.ok
}

const requestOf = (flags: RerunFlags): JsonObject => {
  const payload = editsOf({ set: flags.set, payload: flags.payload }, '--set')
  const variables = editsOf({ set: flags.vars, payload: null }, '--var')
  return {
    from: placeOf(flags),
    ...(flags.version === null ? {} : { version: flags.version }),
    ...(Object.keys(payload).length === 0 ? {} : { workload: payload }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  }
}

const placeOf = ({ from, fromStep, fromEvent }: RerunFlags): JsonObject[string] => {
  if ([from, fromStep, fromEvent].filter((place) => place !== null).length > 1)
    throw new ProblemError('invalid', 'Give one of --from, --from-step and --from-event, not several')
  if (fromStep !== null) return { step: fromStep }
  if (fromEvent !== null) return { event_id: fromEvent }
  if (from !== null && from !== 'start' && from !== 'failed')
    throw new ProblemError('invalid', `--from ${from}: it is 'start' or 'failed'`)
  return from ?? 'start'
}

/** What the execution had is on the server and partly secret: a value is edited as a whole. */
export const editsOf = (flags: PayloadFlags, flag: string): JsonObject => {
  for (const assignment of flags.set) {
    const [key = ''] = assignment.split('=')
    if (key.includes('.'))
      throw new ProblemError('invalid', `${flag} ${assignment}: give the whole of '${key.split('.')[0]}'`)
  }
  return buildPayload(flags, {}, readText)
}
