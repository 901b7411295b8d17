/**
 * How a command fails: one clear line and an exit code.
 *
 * | exit code | meaning |
 * |---|---|
 * | 0 | done; for `run`: the execution completed |
 * | 1 | it could not be done; for `run`: the execution failed |
 * | 2 | what was asked for is not right: a flag, a file, a playbook |
 * | 3 | the execution was cancelled |
 * | 130 | left by Ctrl-C while what it waited for goes on |
 * | 130, 143 | left at once after a second Ctrl-C or termination signal |
 */
import type { ExecutionEnd } from '../client/answers.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { ProblemError } from '../contract/problem.ts'
import type { Terminal } from './terminal.ts'

export const EXIT = { ok: 0, failed: 1, usage: 2, cancelled: 3, interrupted: 130 } as const

const PROBLEM_EXIT: Record<ProblemCode, number> = {
  bad_request: EXIT.usage,
  unauthorized: EXIT.usage,
  forbidden: EXIT.usage,
  too_many_requests: EXIT.failed,
  invalid: EXIT.usage,
  not_found: EXIT.usage,
  too_large: EXIT.usage,
  unsupported_media_type: EXIT.usage,
  method_not_allowed: EXIT.failed,
  conflict: EXIT.failed,
  lease_lost: EXIT.failed,
  already_terminal: EXIT.failed,
  unavailable: EXIT.failed,
  internal: EXIT.failed,
}

export const EXECUTION_EXIT: Record<ExecutionEnd['status'], number> = {
  COMPLETED: EXIT.ok,
  FAILED: EXIT.failed,
  CANCELLED: EXIT.cancelled,
}

/** A failure whose reasons are printed already. */
export class Reported extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('reported')
    this.name = 'Reported'
    this.exitCode = exitCode
  }
}

/** Prints the failure; answers the exit code. `debug` shows where it came from. */
export const reportFailure = (error: unknown, terminal: Terminal, debug: boolean): number => {
  terminal.live(null)
  if (error instanceof Reported) return error.exitCode
  const expected = error instanceof ProblemError
  const message = error instanceof Error ? error.message : String(error)
  terminal.err(errorLine(expected ? message : `unexpected: ${message}`, terminal))
  if (debug && error instanceof Error) terminal.err(terminal.errorStyle.dim(withCauses(error)))
  else if (!expected) terminal.err(terminal.errorStyle.dim('NOETL_DEBUG=1 shows where this came from.'))
  return expected ? PROBLEM_EXIT[error.code] : EXIT.failed
}

/** What people are told while a connection that broke is made anew. */
export const READING_ON = 'The connection broke; reading on from where it was.'

export const errorLine = (message: string, { errorStyle }: Terminal): string =>
  `${errorStyle.red(errorStyle.bold('error:'))} ${message}`

const withCauses = (error: Error): string => {
  const own = error.stack ?? error.message
  return error.cause instanceof Error ? `${own}\ncaused by ${withCauses(error.cause)}` : own
}
