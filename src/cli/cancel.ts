/**
 * `noetl cancel`: ends an execution, and with it those that it started.
 *
 * 1. It says everything that was cancelled.
 * 2. An execution that is over already is refused with its status: exit code 1.
 */
import type { Cancelled } from '../client/answers.ts'
import type { Client } from '../client/client.ts'
import { ProblemError } from '../contract/problem.ts'
import { countOf } from './diagnostics.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface CancelFlags {
  readonly command: 'cancel'
  readonly execution: string
  readonly reason: string | null
  /** False: executions below it go on. */
  readonly cascade: boolean
  readonly json: boolean
}

export const cancelExecution = async (
  { execution, reason, cascade, json }: CancelFlags,
  client: Pick<Client, 'cancel' | 'status'>,
  terminal: Terminal,
): Promise<number> => {
  const request = { reason: reason ?? 'cancelled from the command line', cascade }
  const answer = await client.cancel(execution, request).catch(async (error: unknown) => {
    throw await explained(error, execution, client)
  })
  terminal.out(json ? JSON.stringify(answer) : cancelledLines(execution, answer).join('\n'))
  return EXIT.ok
}

/** A refusal is told by how the execution ended, when that is the reason. */
const explained = async (
  error: unknown,
  execution: string,
  client: Pick<Client, 'status'>,
): Promise<unknown> => {
  if (!(error instanceof ProblemError) || !['invalid', 'conflict', 'already_terminal'].includes(error.code))
    return error
  const { status } = await client.status(execution)
  if (status === 'RUNNING') return error
  return new ProblemError(
    'already_terminal',
    `Execution ${execution} is ${status} already; there is nothing to cancel`,
    { cause: error },
  )
}

const MOST_NAMED = 20

const cancelledLines = (
  execution: string,
  { cancelled_executions: cancelled }: Cancelled,
): readonly string[] => {
  const below = cancelled.filter((id) => id !== execution)
  const first =
    below.length < cancelled.length
      ? `cancelled execution ${execution}`
      : `execution ${execution} was cancelled before`
  if (below.length === 0) return [first]
  const more = below.length - MOST_NAMED
  const names = `${below.slice(0, MOST_NAMED).join(', ')}${more > 0 ? `, and ${more} more` : ''}`
  return [first, `cancelled ${countOf(below.length, 'execution')} below it: ${names}`]
}
