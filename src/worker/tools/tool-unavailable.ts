/** A tool that this worker cannot run as it is set up; the message says what to install or to set. */
import { ToolFailure } from '../tool-failure.ts'

export const toolUnavailable = (message: string, cause?: unknown): ToolFailure =>
  new ToolFailure(
    { kind: 'config', code: 'TOOL_UNAVAILABLE', message, retryable: false },
    cause === undefined ? {} : { cause },
  )
