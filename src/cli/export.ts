/** `noetl export`: an execution as a file, on stdout or where `--output` says. One that is not whole is no file, and an error. */
import type { HistoryClient } from '../client/history.ts'
import { ProblemError } from '../contract/problem.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'
import { writeWholeFile } from './whole-file.ts'

export interface ExportFlags {
  readonly command: 'export'
  readonly execution: string
  readonly withChildren: boolean
  readonly includeSecrets: boolean
  readonly output: string | null
}

export const exportExecution = async (
  { execution, withChildren, includeSecrets, output }: ExportFlags,
  client: Pick<HistoryClient, 'export'>,
  terminal: Terminal,
): Promise<number> => {
  const bytes = await client.export(execution, {
    ...(withChildren ? { with_children: 'true' } : {}),
    ...(includeSecrets ? { include_secrets: 'true' } : {}),
  })
  if (output === null || output === '-') {
    const last = await printLines(bytes, terminal)
    // A reader that went away has what it wanted.
    if (!isEnd(last) && !terminal.abandoned.aborted) throw brokeOff()
    return EXIT.ok
  }
  const watched = watchedEnd(bytes)
  const isWhole = (): boolean => isEnd(watched.lastLine())
  const written = await writeWholeFile({ output, bytes: watched.bytes, isWhole })
  if (written === 'cut') throw brokeOff()
  return written === 'left' ? EXIT.interrupted : EXIT.ok
}

/** The server cannot take back what it sent: an export that broke off shows by its missing end. */
const isEnd = (lastLine: string): boolean => lastLine.startsWith('{"type":"end"')

const brokeOff = (): ProblemError =>
  new ProblemError('unavailable', 'The export broke off; the server log says why')

/** Prints whole lines; answers the last one. */
const printLines = async (bytes: AsyncIterable<Uint8Array>, terminal: Terminal): Promise<string> => {
  const decoder = new TextDecoder()
  let rest = ''
  let last = ''
  for await (const chunk of bytes) {
    if (terminal.abandoned.aborted) break
    rest += decoder.decode(chunk, { stream: true })
    const end = rest.lastIndexOf('\n')
    if (end === -1) continue
    const lines = rest.slice(0, end)
    last = lines.slice(lines.lastIndexOf('\n') + 1)
    terminal.out(lines)
    rest = rest.slice(end + 1)
  }
  return last
}

/** Passes the bytes on and keeps the end of them. */
const watchedEnd = (bytes: AsyncIterable<Uint8Array>) => {
  let tail = Buffer.alloc(0)
  const watch = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
      yield chunk
    }
  }
  return {
    bytes: watch(),
    lastLine: (): string => tail.toString('utf8').trimEnd().split('\n').at(-1) ?? '',
  }
}

/** The last line is shorter than this. */
const TAIL_BYTES = 1024
