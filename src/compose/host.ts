/** A server that anyone can reach needs access control; without it only this machine is served. */
import { isIP } from 'node:net'
import { ProblemError } from '../contract/problem.ts'

export const isLoopback = (host: string): boolean => {
  const bare = host
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true
  if (isIP(bare) === 4) return bare.startsWith('127.')
  return isIP(bare) === 6 && /^(?:0{0,4}:)*:?0{0,3}1$|^::ffff:127\./.test(bare)
}

export const refuseOpenHost = ({
  host,
  insecure,
}: {
  readonly host: string
  readonly insecure: boolean
}): void => {
  if (insecure || isLoopback(host)) return
  throw new ProblemError(
    'invalid',
    `--host ${host} would let every machine that reaches it run code here, because no access tokens are configured. ` +
      'Keep 127.0.0.1, or say --insecure (NOETL_INSECURE=true) if the network is trusted.',
  )
}

/** The address under which this machine reaches a server that listens at `url`. */
export const reachableUrl = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
