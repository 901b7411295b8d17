/** Whether a name or an address means this machine and cannot be reached from another one. */
import { isIP } from 'node:net'

export const isLoopback = (host: string): boolean => {
  const bare = withoutBrackets(host)
  if (bare === 'localhost' || bare.endsWith('.localhost')) return true
  if (isIP(bare) === 4) return bare.startsWith('127.')
  return isIP(bare) === 6 && /^(?:0{0,4}:)*:?0{0,3}1$|^::ffff:127\./.test(bare)
}

export const withoutBrackets = (host: string): string =>
  host
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
