/**
 * A file that appears when it is whole.
 *
 * 1. Until then it stands beside its place under a name of this process. Whatever ends the writing takes it away: an error,
 *    Ctrl-C, a termination signal, the end of the process. What stood at its place before stays there.
 * 2. Signals are heard here and now: between the first one and the end of the process another one may kill it.
 * 3. A device or a pipe is written as it is; a link goes on leading to its file.
 */
import type { Stats, WriteStream } from 'node:fs'
import { createWriteStream, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ProblemError } from '../contract/problem.ts'

/** `cut` when the bytes ended before they were whole, `left` when the user did not want to wait for them. */
export type Written = 'whole' | 'cut' | 'left'

export interface WholeFile {
  readonly output: string
  readonly bytes: AsyncIterable<Uint8Array>
  /** Asked when the bytes ended. */
  readonly isWhole: () => boolean
}

export const writeWholeFile = async ({ output, bytes, isWhole }: WholeFile): Promise<Written> => {
  const { path, isInPlace } = placeOf(output)
  const partial = isInPlace ? path : `${path}.${process.pid}.partial`
  const remove = (): void => {
    if (!isInPlace) rmSync(partial, { force: true })
  }
  const file = opened(partial, output, isInPlace)
  const leaving = whenLeaving(remove)
  const source = toldApart(bytes)
  try {
    // Bytes that do not come cannot be called back: nobody waits for them.
    const writing = pipeline(Readable.from(source.bytes), file)
    if ((await Promise.race([writing, leaving.left])) === 'left') {
      writing.catch(() => undefined)
      file.destroy()
      return 'left'
    }
    if (!isWhole()) return 'cut'
    if (!isInPlace) renameSync(partial, path)
    return 'whole'
  } catch (error) {
    throw source.hasFailed() ? error : cannotBeWritten(output, error)
  } finally {
    remove()
    leaving.forget()
  }
}

/** Opened here and now: a file that is still to appear could not be taken away. A pipe may wait for its reader. */
const opened = (partial: string, output: string, isInPlace: boolean): WriteStream => {
  try {
    return createWriteStream(partial, isInPlace ? {} : { fd: openSync(partial, 'w'), flush: true })
  } catch (error) {
    throw cannotBeWritten(output, error)
  }
}

/** Tells what goes wrong with the bytes from what goes wrong with the file. */
const toldApart = (bytes: AsyncIterable<Uint8Array>) => {
  let failed = false
  const pass = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* bytes
    } catch (error) {
      failed = true
      throw error
    }
  }
  return { bytes: pass(), hasFailed: () => failed }
}

/** Where the bytes go, and whether what is there can only be written as it is. */
const placeOf = (output: string): { readonly path: string; readonly isInPlace: boolean } => {
  if (output === '') throw new ProblemError('invalid', 'The name of the file to write (--output) is empty')
  const there = lookedAt(output)
  if (there === undefined) return { path: output, isInPlace: false }
  if (there.isDirectory())
    throw new ProblemError('invalid', `${output} is a directory; name a file in it, such as execution.ndjson`)
  return there.isFile() ? { path: realpathSync(output), isInPlace: false } : { path: output, isInPlace: true }
}

/** Undefined for what is not there, or not to be seen: opening it says why. */
const lookedAt = (path: string): Stats | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const whenLeaving = (tidy: () => void): { readonly left: Promise<'left'>; forget(): void } => {
  const { promise: left, resolve } = Promise.withResolvers<'left'>()
  const leave = (): void => {
    tidy()
    resolve('left')
  }
  for (const name of SIGNALS) process.on(name, leave)
  process.on('exit', tidy)
  return {
    left,
    forget: () => {
      for (const name of SIGNALS) process.off(name, leave)
      process.off('exit', tidy)
    },
  }
}

const cannotBeWritten = (output: string, error: unknown): ProblemError =>
  new ProblemError('invalid', `${output} cannot be written: ${error instanceof Error ? error.message : ''}`, {
    cause: error,
  })
