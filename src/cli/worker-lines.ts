/** What `noetl worker` says about its server. A token is named, never shown. */
import type { LeasedCommand } from '../contract/command.ts'
import type { ProblemError } from '../contract/problem.ts'

const MAKE_ONE = 'noetl token create --role worker --name <name>'
/** More are counted, not named. */
const NAMED_COMMANDS = 10

/** `limitSeconds` is null when there is no end to the wait. */
export const waitingLine = ({ message }: ProblemError, limitSeconds: number | null): string =>
  `${message}; waiting for the server${limitSeconds === null ? '' : ` for up to ${limitSeconds} s`} (Ctrl-C ends this)`

export const connectedLine = (url: string, waitedMs: number): string =>
  `Connected to ${url} after ${Math.round(waitedMs / 1000)} s`

export const gaveUpMessage = ({ message }: ProblemError, limitSeconds: number): string =>
  limitSeconds === 0 ? message : `${message}; waited ${limitSeconds} s for it (--wait, NOETL_WORKER_WAIT)`

/** Why a server does not let a worker in, and what to do about it. */
export const refusalMessage = (url: string, { code, message }: ProblemError, hasToken: boolean): string => {
  if (code === 'unauthorized' && !hasToken)
    return `${url} needs an access token of role worker: give it with --token or NOETL_TOKEN. An admin makes one with: ${MAKE_ONE}`
  return `${message}. A worker needs a token of role worker; an admin makes one with: ${MAKE_ONE}`
}

export const otherRoleMessage = (name: string, role: string): string =>
  `The token '${name}' has the role ${role}; a worker needs one of role worker, made by an admin with: ${MAKE_ONE}`

/** What becomes of the commands that a worker held when it was not let in any more. */
export const abortedLines = (commands: readonly LeasedCommand[], leaseSeconds: number): readonly string[] => {
  if (commands.length === 0) return ['Nothing was running.']
  const named = commands.slice(0, NAMED_COMMANDS)
  const others = commands.length - named.length
  return [
    'Aborted without a report:',
    ...named.map(({ step, executionId }) => `  step ${step} of execution ${executionId}`),
    ...(others === 0 ? [] : [`  and ${others} more`]),
    `Their leases run out within ${leaseSeconds} s; then other workers get them.`,
  ]
}
