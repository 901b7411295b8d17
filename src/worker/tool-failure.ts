/**
 * A tool's failure as an exception, for the places where returning a result is awkward, and the way from any
 * thrown value back to a tool error.
 */
import type { ToolError } from '../contract/command.ts'
import type { ToolResult } from './tool.ts'

export class ToolFailure extends Error {
  readonly error: ToolError

  constructor(error: ToolError, options: { cause?: unknown } = {}) {
    super(error.message, options)
    this.name = 'ToolFailure'
    this.error = error
  }
}

/** The tool block itself is wrong: repeating it cannot help. */
export const configFailure = (message: string, code = 'CONFIG'): ToolFailure =>
  new ToolFailure({ kind: 'config', code, message, retryable: false })

export const toToolError = (thrown: unknown): ToolError => {
  if (thrown instanceof ToolFailure) return thrown.error
  if (!(thrown instanceof Error)) {
    return { kind: 'internal', code: 'INTERNAL', message: String(thrown), retryable: false }
  }
  const error: ToolError = {
    kind: 'internal',
    code: 'INTERNAL',
    message: thrown.message === '' ? thrown.name : thrown.message,
    retryable: false,
    exception: thrown.name,
  }
  return thrown.stack === undefined ? error : { ...error, traceback: thrown.stack.slice(0, 4096) }
}

export const failed = (thrown: unknown): ToolResult => ({ outcome: 'error', error: toToolError(thrown) })
