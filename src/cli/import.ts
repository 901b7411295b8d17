/** `noetl import`: brings in executions from a file. */
import { createReadStream, statSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { HistoryClient } from '../client/history.ts'
import { ProblemError } from '../contract/problem.ts'
import { countOf } from './diagnostics.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface ImportFlags {
  readonly command: 'import'
  readonly file: string
  readonly resume: boolean
  readonly json: boolean
}

export const importExecution = async (
  { file, resume, json }: ImportFlags,
  client: Pick<HistoryClient, 'import'>,
  terminal: Terminal,
): Promise<number> => {
  const bytes = await opened(file)
  const answer = await client.import(bytes, resume ? { resume: 'true' } : {})
  if (json) terminal.out(JSON.stringify(answer))
  else {
    const what = `${countOf(answer.executions.length, 'execution')}, ${countOf(answer.events, 'event')}, ${countOf(answer.results, 'result')}`
    terminal.out(
      answer.status === 'exists'
        ? `execution ${answer.execution_id} was here already`
        : `imported execution ${answer.execution_id}: ${what}`,
    )
    if (answer.resumed_as !== null) terminal.out(`it goes on as execution ${answer.resumed_as}`)
  }
  return EXIT.ok
}

/** A file that cannot be opened is told before anything is sent. */
const opened = (file: string): Promise<Readable> =>
  new Promise((resolve, reject) => {
    // It would open, and fail only when it is read.
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new ProblemError('invalid', `${file} is a directory, not a file`)
    const stream = createReadStream(file)
    stream.once('open', () => resolve(stream))
    stream.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new ProblemError('invalid', `${file} ${error.code === 'ENOENT' ? 'does not exist' : error.message}`, {
          cause: error,
        }),
      ),
    )
  })
