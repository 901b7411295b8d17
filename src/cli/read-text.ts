/** Reading a file that somebody named: text, or an error that says why not. */
import { existsSync, readFileSync } from 'node:fs'
import { ProblemError } from '../contract/problem.ts'

export const readText = (file: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    throw new ProblemError('invalid', `${file} ${whyUnreadable(error, file)}`, { cause: error })
  }
}

const whyUnreadable = (error: unknown, file: string): string => {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT') return `does not exist${withSuffix(file)}`
  if (code === 'EISDIR') return 'is a directory, not a file'
  if (code === 'EACCES') return 'may not be read by this user'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not text (UTF-8)'
  return `cannot be read: ${(error as Error).message}`
}

/** The playbook that is meant by a name without its ending. */
const withSuffix = (file: string): string => {
  const meant = ['.yaml', '.yml'].map((suffix) => `${file}${suffix}`).find((name) => existsSync(name))
  return meant === undefined ? '' : `. Did you mean ${meant}?`
}
