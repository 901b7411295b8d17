/** `noetl export`: an execution as a file, on stdout or where `--output` says. */
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HistoryClient } from '../client/history.ts'
import { ProblemError } from '../contract/problem.ts'
import { EXIT } from './failure.ts'
import type { Terminal } from './terminal.ts'

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
  const last = output === null ? await printLines(bytes, terminal) : await writeFile(bytes, output)
  // The server cannot take back what it sent: an export that broke off shows by its missing end.
  if (!last.startsWith('{"type":"end"'))
    throw new ProblemError('unavailable', 'The export broke off; the server log says why')
  return EXIT.ok
}

/** Prints whole lines; answers the last one. */
const printLines = async (bytes: AsyncIterable<Uint8Array>, terminal: Terminal): Promise<string> => {
  const decoder = new TextDecoder()
  let rest = ''
  let last = ''
  for await (const chunk of bytes) {
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

/** The file appears when it is whole. */
const writeFile = async (bytes: AsyncIterable<Uint8Array>, output: string): Promise<string> => {
  const partial = `${output}.partial`
  let tail = Buffer.alloc(0)
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
      yield chunk
    }
  }
  const file = createWriteStream(partial)
  try {
    await pipeline(Readable.from(watched()), file)
  } catch (error) {
    // What goes wrong with the file says so itself; everything else is the connection's.
    if (file.errored !== error || !isSystemError(error)) throw error
    throw new ProblemError('invalid', `${output} cannot be written: ${error.message}`, { cause: error })
  }
  const last = tail.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
  if (last.startsWith('{"type":"end"')) renameSync(partial, output)
  else rmSync(partial)
  return last
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string'

/** The last line is shorter than this. */
const TAIL_BYTES = 1024
