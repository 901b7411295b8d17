/**
 * A control plane that does not let this worker work any more: its token was revoked, has expired, or is of another role.
 * A control plane that is away, and a stranger that stands in its place for a while, are something else: they pass.
 */
import { WrongServer } from '../client/wrong-server.ts'
import { ProblemError } from '../contract/problem.ts'

export const isDismissal = (error: unknown): error is ProblemError =>
  error instanceof ProblemError &&
  !(error instanceof WrongServer) &&
  (error.code === 'unauthorized' || error.code === 'forbidden')
