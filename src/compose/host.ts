/** A server that other machines can reach needs access control; without it only this machine is served. */
import { ProblemError } from '../contract/problem.ts'
import { isLoopback } from '../lib/loopback.ts'
import type { AccessSettings } from './access-settings.ts'

export interface Reach {
  readonly host: string
  readonly insecure: boolean
  readonly access: AccessSettings
}

/** True when nothing but tokens in the database would make it safe to listen there. */
export const needsTokens = ({ host, insecure, access: { auth, adminToken } }: Reach): boolean =>
  !insecure && !isLoopback(host) && auth !== 'required' && !(auth === 'auto' && adminToken !== null)

/** `hasTokens` is null as long as nobody has looked; a directory without data has none. */
export const refuseOpenHost = (reach: Reach, hasTokens: boolean | null): void => {
  const { host, access } = reach
  if (!needsTokens(reach)) return
  if (access.auth === 'open')
    throw new ProblemError(
      'invalid',
      `NOETL_AUTH=open with --host ${host} would let every machine that reaches it run code here. ` +
        'Keep 127.0.0.1, or say --insecure (NOETL_INSECURE=true) if the network is trusted.',
    )
  if (hasTokens !== false) return
  throw new ProblemError(
    'invalid',
    `--host ${host} would let every machine that reaches it run code here, because there are no access tokens. ` +
      'Make one first with: noetl token create --role admin --name me. ' +
      'Or keep 127.0.0.1, or say --insecure (NOETL_INSECURE=true) if the network is trusted.',
  )
}

/** The address under which this machine reaches a server that listens at `url`. */
export const reachableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
