/** Reasons why an interpreter cannot be used, each with what to do about it. */
import { configFailure, type ToolFailure } from '../../tool-failure.ts'

export const notStarted = (python: string, error: NodeJS.ErrnoException): ToolFailure =>
  configFailure(
    error.code === 'ENOENT' || error.code === 'EACCES'
      ? `Cannot run "${python}": ${error.code === 'ENOENT' ? 'there is no such program' : 'it is not executable'}. ` +
          'Install Python 3.9 or newer, or set NOETL_PYTHON to the path of its program.'
      : `Cannot run "${python}": ${error.message}`,
    'PYTHON_NOT_FOUND',
  )

export const brokenStart = (python: string, notes: string): ToolFailure =>
  configFailure(
    `"${python}" ended before it was ready: ${notes.trim() || 'it said nothing'}`,
    'PYTHON_NOT_READY',
  )

export const tooOld = (python: string, version: string): ToolFailure =>
  configFailure(
    `"${python}" is Python ${version}, but 3.9 or newer is needed. ` +
      'Install one, or set NOETL_PYTHON to the path of its program.',
    'PYTHON_TOO_OLD',
  )
