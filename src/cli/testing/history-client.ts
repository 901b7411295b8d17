/** What the commands along the history of executions are tested with: their flags as typed, and a server that answers. */
import type { HistoryClient } from '../../client/history.ts'
import type { HistoryFlags } from '../history-program.ts'
import type { Actions } from '../program.ts'
import { runProgram } from '../program.ts'
import { createRecordingTerminal } from './recording-terminal.ts'

/** A client that answers one verb and keeps what it was asked; the last answer is for ever. */
export const answering = (verb: keyof HistoryClient, ...answers: readonly unknown[]) => {
  const asked: unknown[] = []
  const left = [...answers]
  const history = {
    [verb]: async (...args: unknown[]) => {
      asked.push(args)
      return left.length > 1 ? left.shift() : left[0]
    },
  } as unknown as HistoryClient
  return { asked, history }
}

/** The rest of a client, which shows an execution until it ended like that. */
export const ending = (history: HistoryClient, status: string, error: string | null = null) => ({
  history,
  url: 'http://here',
  resolve: () => Promise.reject(new Error('nothing is stored apart')),
  follow: async function* () {
    yield { type: 'end', end: { status, error } }
  } as never,
})

export const WAITING = { interrupted: new AbortController().signal, isOwnServer: false }

/** What the program hands to a command that is typed like this. */
export const flagsOf = async <Name extends HistoryFlags['command']>(
  command: Name,
  ...rest: readonly string[]
): Promise<Extract<HistoryFlags, { command: Name }>> => {
  let found: HistoryFlags | undefined
  const history = async (flags: HistoryFlags): Promise<number> => {
    found = flags
    return 0
  }
  await runProgram({
    argv: [command, ...rest],
    version: '0',
    terminal: createRecordingTerminal(),
    actions: { history } as unknown as Actions,
  })
  if (found?.command !== command) throw new Error(`the program did not come to ${command}`)
  return found as Extract<HistoryFlags, { command: Name }>
}
