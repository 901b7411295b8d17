/**
 * Expected failures, as data. A problem names the thing and the fix; the shell turns it into an HTTP
 * answer (status table below) or an exit code.
 */
import type { Json } from './json.ts'

/** Closed list of problem words; stable, they are part of the API. */
export type ProblemCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'too_many_requests'
  | 'invalid'
  | 'not_found'
  | 'conflict'
  | 'lease_lost'
  | 'already_terminal'
  | 'too_large'
  | 'unsupported_media_type'
  | 'method_not_allowed'
  | 'unavailable'
  | 'internal'

export interface Problem {
  readonly code: ProblemCode
  readonly message: string
  readonly details?: Json
}

export const PROBLEM_STATUS: Record<ProblemCode, number> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  too_many_requests: 429,
  invalid: 422,
  not_found: 404,
  conflict: 409,
  lease_lost: 409,
  already_terminal: 409,
  too_large: 413,
  unsupported_media_type: 415,
  method_not_allowed: 405,
  unavailable: 503,
  internal: 500,
}

/** How a problem is introduced where only a text can be given. */
export const PROBLEM_PREFIX: Record<ProblemCode, string> = {
  bad_request: 'Bad request',
  unauthorized: 'Unauthorized',
  forbidden: 'Forbidden',
  too_many_requests: 'Too many requests',
  invalid: 'Validation error',
  not_found: 'Resource not found',
  conflict: 'Conflict',
  lease_lost: 'Conflict',
  already_terminal: 'Conflict',
  too_large: 'Too large',
  unsupported_media_type: 'Unsupported media type',
  method_not_allowed: 'Method not allowed',
  unavailable: 'Unavailable',
  internal: 'Internal error',
}

/** The one error class of the shell: an expected problem that travels as an exception. */
export class ProblemError extends Error {
  readonly code: ProblemCode
  readonly details: Json | undefined

  constructor(code: ProblemCode, message: string, options: { details?: Json; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'ProblemError'
    this.code = code
    this.details = options.details
  }
}
