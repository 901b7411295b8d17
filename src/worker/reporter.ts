/**
 * Delivers reports.
 *
 * 1. A report that got no answer is repeated until it is answered or its command is abandoned.
 * 2. A report that is refused for what it contains is replaced, once, by a failure that says so: the execution must
 *    not wait for a result that can never arrive. So is a report that the control plane keeps stumbling over.
 * 3. A refusal that `isFinal` ends it: nothing that this worker says counts any more.
 * 4. `onOver` is called exactly once per delivered report, whatever the answer.
 */
import { WrongServer } from '../client/wrong-server.ts'
import type { CommandReport, ControlPlane } from '../contract/command.ts'
import { type ProblemCode, ProblemError } from '../contract/problem.ts'
import { backoffMs } from './backoff.ts'
import type { Clock } from './clock.ts'
import { commandFacts, type HeldCommand } from './held-command.ts'
import type { Log } from './log.ts'

export interface ReporterOptions {
  readonly controlPlane: ControlPlane
  readonly clock: Clock
  readonly log: Log
  readonly onOver: (held: HeldCommand) => void
  /** Whether no other try will be answered otherwise. */
  readonly isFinal: (error: unknown) => boolean
}

export interface Reporter {
  deliver(held: HeldCommand, report: CommandReport): void
  /** Reports that are waiting for their next try. */
  failing(): number
  /** Ends every waiting retry of an abandoned command now. */
  wake(): void
}

/** Refusals of the content; a smaller or plainer report has a chance. */
const REPLACEABLE: ReadonlySet<ProblemCode> = new Set([
  'bad_request',
  'invalid',
  'too_large',
  'unsupported_media_type',
  'internal',
])
/** Answers `internal` to one report in a row after which the report itself is taken for the cause. */
const MOST_STUMBLES = 10

/** They say nothing about the report: it counts when the control plane is there, or lets the worker in, again. */
const NO_ANSWERS: ReadonlySet<ProblemCode> = new Set(['unavailable', 'unauthorized', 'forbidden'])

const isAnswer = (error: unknown, failures: number): error is ProblemError =>
  error instanceof ProblemError &&
  !NO_ANSWERS.has(error.code) &&
  // A stranger in the place of the control plane knows nothing of the report, except how large it is.
  (!(error instanceof WrongServer) || error.code === 'too_large') &&
  (error.code !== 'internal' || failures >= MOST_STUMBLES)

const refusedReport = (report: CommandReport, problem: ProblemError): CommandReport => {
  const {
    data: _data,
    large: _large,
    contextUpdates: _updates,
    stdout: _stdout,
    stderr: _stderr,
    ...facts
  } = report
  return {
    ...facts,
    outcome: 'error',
    error: {
      kind: problem.code === 'too_large' ? 'result_too_large' : 'report',
      code: 'REPORT_REFUSED',
      message: `The control plane refused the result: ${problem.message}`,
      retryable: false,
    },
  }
}

export const createReporter = (options: ReporterOptions): Reporter => {
  const { controlPlane, clock, log, onOver, isFinal } = options
  const waiting = new Map<HeldCommand, () => void>()

  const send = (held: HeldCommand, report: CommandReport, failures: number): void => {
    if (held.abandoned) {
      onOver(held)
      return
    }
    let answer: Promise<'ok' | 'lost'>
    try {
      answer = controlPlane.report(report)
    } catch (error) {
      refused(held, report, failures, error)
      return
    }
    const answered = (status: 'ok' | 'lost'): void => {
      if (status === 'lost') log.warn(commandFacts(held.command), 'lease was lost, result dropped')
      onOver(held)
    }
    answer.then(answered, (error: unknown) => refused(held, report, failures, error))
  }

  const refused = (held: HeldCommand, report: CommandReport, failures: number, error: unknown): void => {
    if (isFinal(error)) {
      onOver(held)
      return
    }
    if (isAnswer(error, failures)) {
      log.error({ err: error, ...commandFacts(held.command) }, 'report was refused')
      if (REPLACEABLE.has(error.code) && report.error?.code !== 'REPORT_REFUSED') {
        send(held, refusedReport(report, error), 0)
      } else {
        onOver(held)
      }
      return
    }
    log.warn(
      { err: error, ...commandFacts(held.command), failures: failures + 1 },
      'cannot report, trying again',
    )
    const retry = (): void => {
      cancel()
      waiting.delete(held)
      send(held, report, failures + 1)
    }
    const cancel = clock.after(backoffMs(failures + 1), retry)
    waiting.set(held, retry)
  }

  return {
    deliver: (held, report) => send(held, report, 0),
    failing: () => waiting.size,
    wake() {
      for (const [held, retry] of waiting) if (held.abandoned) retry()
    },
  }
}
