/**
 * Slows down whoever presents wrong credentials, by address.
 *
 * 1. An address may fail this often at once, and once more every few seconds after.
 * 2. Memory is bounded: the addresses that failed the longest time ago are forgotten first.
 * 3. IPv6 addresses count by their network of 64 bits, within which one machine may choose any address.
 */
import { isIPv6 } from 'node:net'
import { createLru } from '../../lib/lru.ts'

export interface FailureLimiter {
  /** Seconds until the next attempt is heard; 0 when it is heard now. */
  waitSeconds(address: string): number
  failed(address: string): void
}

export interface FailureLimiterOptions {
  readonly burst?: number
  readonly refillMs?: number
  readonly maxAddresses?: number
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number
}

export const createFailureLimiter = ({
  burst = 20,
  refillMs = 3000,
  maxAddresses = 10_000,
  now = () => performance.now(),
}: FailureLimiterOptions = {}): FailureLimiter => {
  /** When all failures of an address will be forgiven: each adds one refill to it. */
  const forgivenAt = createLru<string, number>(maxAddresses)
  const debtMs = (address: string): number => Math.max(0, (forgivenAt.get(networkOf(address)) ?? 0) - now())
  return {
    waitSeconds: (address) => {
      const excess = debtMs(address) - (burst - 1) * refillMs
      return excess <= 0 ? 0 : Math.ceil(excess / 1000)
    },
    failed: (address) => {
      const most = burst * refillMs
      forgivenAt.set(networkOf(address), now() + Math.min(most, debtMs(address) + refillMs))
    },
  }
}

const networkOf = (address: string): string => {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array.from({ length: zeros }, () => '0'), ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
