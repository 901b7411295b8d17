/**
 * Classifies what went wrong in a call. A class of exception decides for its subclasses, unless one of them has an
 * entry of its own; a `retryable` attribute of the exception itself has the last word.
 */
import type { ToolError } from '../../../contract/command.ts'
import type { CallEnd } from './python-call.ts'

/** An exception as the interpreter describes it. */
export interface PythonFailure {
  readonly type: string
  /** Names of the class and its bases, nearest first. */
  readonly ancestry: readonly string[]
  readonly message: string
  readonly traceback: string
  readonly retryable?: boolean | number
  readonly retry_after?: boolean | number
}

interface Class {
  readonly kind: string
  readonly retryable: boolean
}

const parse: Class = { kind: 'parse', retryable: false }
const schema: Class = { kind: 'schema', retryable: false }
const timeout: Class = { kind: 'timeout', retryable: true }
const connection: Class = { kind: 'connection', retryable: true }
const runtime: Class = { kind: 'runtime', retryable: false }

/** The names below the blank line are of libraries that do not derive from the standard classes. */
const CLASSES: ReadonlyMap<string, Class> = new Map([
  ['SyntaxError', parse],
  ['JSONDecodeError', parse],
  ['TypeError', schema],
  ['ValueError', schema],
  ['KeyError', schema],
  ['IndexError', schema],
  ['TimeoutError', timeout],
  ['ConnectionError', connection],
  ['gaierror', connection],

  ['Timeout', timeout],
  ['TimeoutException', timeout],
  ['NetworkError', connection],
])

export const classifyPythonFailure = (failure: PythonFailure): ToolError => {
  const ancestor = failure.ancestry.find((name) => CLASSES.has(name))
  const { kind, retryable } = ancestor === undefined ? runtime : (CLASSES.get(ancestor) ?? runtime)
  const retryAfter = failure.retry_after
  return {
    kind,
    code: failure.type === 'TimeoutError' ? 'PY_TIMEOUT' : `PY_${failure.type}`,
    message: failure.message === '' ? failure.type : `${failure.type}: ${failure.message}`,
    retryable: failure.retryable === undefined ? retryable : Boolean(failure.retryable),
    exception: failure.type,
    traceback: failure.traceback,
    ...(typeof retryAfter === 'number' ? { retry_after: retryAfter } : {}),
  }
}

/** A call that ended without saying how it went. */
export const endedWithoutAnswer = (end: CallEnd, maxAnswerBytes: number): ToolError => {
  if (end.tooLarge) {
    const limit = `${Math.round(maxAnswerBytes / 1024 / 1024)} MB`
    return {
      kind: 'result_too_large',
      code: 'RESULT_TOO_LARGE',
      message: `The result is larger than ${limit}. Store it elsewhere and return a reference.`,
      retryable: false,
    }
  }
  if (end.interpreterLost) {
    return {
      kind: 'process',
      code: 'PY_INTERPRETER_LOST',
      message: 'The Python interpreter went away while the code was running',
      retryable: false,
    }
  }
  if (end.signalName !== null) {
    const hint = end.signalName === 'SIGKILL' ? '; the system may have been out of memory' : ''
    return {
      kind: 'process',
      code: `PY_${end.signalName}`,
      message: `The Python process was ended by ${end.signalName}${hint}`,
      retryable: false,
    }
  }
  return {
    kind: 'process',
    code: `EXIT_${end.exitCode}`,
    message: `The Python process exited with code ${end.exitCode} before its code was finished`,
    retryable: false,
  }
}
