/**
 * Credentials that a worker has at hand.
 *
 * 1. Each is kept for half a minute, and no longer than it lives; then it is dropped, also when nobody asks again.
 * 2. At most 200 are kept, the newest.
 */
import type { Credential } from '../../contract/command.ts'
import type { Clock } from '../clock.ts'

export interface KeptCredentials {
  get(key: string): Credential | undefined
  set(key: string, credential: Credential): void
  delete(key: string): void
  clear(): void
}

const KEEP_MS = 30_000
const MOST_KEPT = 200

export const createKeptCredentials = (clock: Clock): KeptCredentials => {
  const kept = new Map<string, { readonly credential: Credential; readonly until: number }>()
  let cancelSweep: (() => void) | null = null

  const sweep = (): void => {
    cancelSweep = null
    const now = clock.elapsed()
    for (const [key, { until }] of kept) if (until <= now) kept.delete(key)
    plan()
  }
  const plan = (): void => {
    if (cancelSweep !== null || kept.size === 0) return
    const next = Math.min(...Array.from(kept.values(), ({ until }) => until))
    cancelSweep = clock.after(Math.max(0, next - clock.elapsed()), sweep)
  }

  return {
    get(key) {
      const found = kept.get(key)
      return found !== undefined && found.until > clock.elapsed() ? found.credential : undefined
    },
    set(key, credential) {
      const lifeMs = (credential.expiresInSeconds ?? Infinity) * 1000
      kept.delete(key)
      if (lifeMs <= 0) return
      kept.set(key, { credential, until: clock.elapsed() + Math.min(KEEP_MS, lifeMs) })
      const [oldest] = kept.keys()
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
      plan()
    },
    delete: (key) => void kept.delete(key),
    clear() {
      kept.clear()
      cancelSweep?.()
      cancelSweep = null
    },
  }
}
