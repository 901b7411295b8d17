/** Cancelling from the command line. Numbers are those of the header of cancel.ts. */
import { describe, expect, it } from 'vitest'
import type { Client } from '../client/client.ts'
import { ProblemError } from '../contract/problem.ts'
import type { CancelFlags } from './cancel.ts'
import { cancelExecution } from './cancel.ts'
import { reportFailure } from './failure.ts'
import { createRecordingTerminal } from './testing/recording-terminal.ts'

const FLAGS: CancelFlags = { command: 'cancel', execution: '1', reason: null, cascade: true, json: false }

const answering = (...cancelled: readonly string[]) => {
  const asked: unknown[] = []
  const client = {
    cancel: async (...args: unknown[]) => {
      asked.push(args)
      return { execution_id: '1', status: 'cancelled', cancelled_executions: cancelled }
    },
  } as unknown as Client
  return { asked, client }
}

const refusing = (problem: ProblemError, status: string): Client =>
  ({
    cancel: () => Promise.reject(problem),
    status: () => Promise.resolve({ status }),
  }) as unknown as Client

describe('noetl cancel', () => {
  it.each([
    [['1'], 'cancelled execution 1\n'],
    [['1', '2', '3'], 'cancelled execution 1\ncancelled 2 executions below it: 2, 3\n'],
    [['2'], 'execution 1 was cancelled before\ncancelled 1 execution below it: 2\n'],
  ])('says that %j were cancelled (1)', async (cancelled, text) => {
    const terminal = createRecordingTerminal()
    expect(await cancelExecution(FLAGS, answering(...cancelled).client, terminal)).toBe(0)
    expect(terminal.written()).toBe(text)
  })

  it('names only some of very many', async () => {
    const ids = Array.from({ length: 31 }, (_, index) => String(index + 1))
    const terminal = createRecordingTerminal()
    await cancelExecution(FLAGS, answering(...ids).client, terminal)
    expect(terminal.written()).toContain('cancelled 30 executions below it: 2, 3, ')
    expect(terminal.written()).toContain(', 21, and 10 more\n')
  })

  it('sends the reason and how far it goes, and prints the answer as JSON', async () => {
    const { client, asked } = answering('1')
    const terminal = createRecordingTerminal()
    await cancelExecution({ ...FLAGS, reason: 'wrong', cascade: false, json: true }, client, terminal)
    expect(asked).toEqual([['1', { reason: 'wrong', cascade: false }]])
    expect(JSON.parse(terminal.written())).toMatchObject({ cancelled_executions: ['1'] })
  })

  it('refuses one that is over with its status and exit code 1 (2)', async () => {
    const client = refusing(new ProblemError('invalid', 'it is over'), 'COMPLETED')
    const terminal = createRecordingTerminal()
    const failure: unknown = await cancelExecution(FLAGS, client, terminal).catch((error: unknown) => error)
    expect(reportFailure(failure, terminal, false)).toBe(1)
    expect(terminal.written()).toBe('error: Execution 1 is COMPLETED already; there is nothing to cancel\n')
  })

  it.each([
    ['invalid', 'RUNNING'],
    ['not_found', 'COMPLETED'],
  ] as const)('passes on any other refusal: %s of one that is %s', async (code, status) => {
    const problem = new ProblemError(code, 'no')
    await expect(cancelExecution(FLAGS, refusing(problem, status), createRecordingTerminal())).rejects.toBe(
      problem,
    )
  })
})
