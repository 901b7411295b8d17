/**
 * `noetl rerun`: runs an execution again as a new one.
 *
 * 1. Edits of workload keys that the execution does not have and that resemble one it has are warned of.
 * 2. With `--json` stdout holds exactly one JSON document; with `--wait` it tells the end, too.
 */
import type { Client } from '../client/client.ts'
import type { RerunAnswer } from '../contract/api-history.ts'
import type { JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { EXIT } from './failure.ts'
import { wholeNumberFlag } from './flag-values.ts'
import { warnOfMisspelt } from './misspelt.ts'
import type { PayloadFlags } from './payload.ts'
import { buildPayload } from './payload.ts'
import { readText } from './read-text.ts'
import type { Terminal } from './terminal.ts'
import type { WaitClient, Waiting } from './wait-for-end.ts'
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
  client: WaitClient & Pick<Client, 'history'>,
  terminal: Terminal,
  waiting: Waiting,
): Promise<number> => {
  const request = requestOf(flags)
  const edits = isObject(request['workload']) ? request['workload'] : {}
  const origin =
    flags.wait || Object.keys(edits).length > 0 ? await client.history.state(flags.execution) : null
  if (isObject(origin?.workload)) warnOfMisspelt(edits, origin.workload, terminal)
  const answer = await client.history.rerun(flags.execution, request)
  const { execution_id: executionId } = answer
  if (!flags.json) terminal.out(startedLines(flags.execution, answer).join('\n'))
  else if (!flags.wait) terminal.out(JSON.stringify(answer))
  if (!flags.wait) return EXIT.ok
  const stepNames = origin?.steps.map(({ step }) => step) ?? []
  const json = flags.json ? answer : null
  return waitForEnd({ ...waiting, executionId, client, terminal, stepNames, json })
}

const startedLines = (
  origin: string,
  { execution_id: id, kept_steps: kept, dropped_steps: dropped }: RerunAnswer,
): readonly string[] => [
  `execution ${id}, a rerun of ${origin}`,
  ...(kept.length > 0 ? [`kept     ${kept.join(', ')}`] : []),
  ...(dropped.length > 0 ? [`dropped  ${dropped.join(', ')}`] : []),
]

const requestOf = (flags: RerunFlags): JsonObject => {
  const payload = editsOf({ set: flags.set, payload: flags.payload }, '--set')
  const variables = editsOf({ set: flags.vars, payload: null }, '--var')
  return {
    from: placeOf(flags),
    ...(flags.version === null ? {} : { version: versionOf(flags.version) }),
    ...(Object.keys(payload).length === 0 ? {} : { workload: payload }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  }
}

const placeOf = ({ from, fromStep, fromEvent }: RerunFlags): JsonObject[string] => {
  if ([from, fromStep, fromEvent].filter((place) => place !== null).length > 1)
    throw new ProblemError('invalid', 'Give one of --from, --from-step and --from-event, not several')
  if (fromStep !== null) return { step: fromStep }
  const event = wholeNumberFlag('--from-event', fromEvent)
  if (event !== null) return { event_id: event }
  if (from !== null && from !== 'start' && from !== 'failed')
    throw new ProblemError('invalid', `--from ${from}: it is 'start' or 'failed'`)
  return from ?? 'start'
}

const versionOf = (given: string): string => {
  if (given === 'latest' || /^\d+$/.test(given)) return given
  throw new ProblemError('invalid', `--playbook-version must be a whole number or 'latest', got '${given}'`)
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
