/**
 * A map that forgets, bounded by the number of its entries and by what they weigh.
 *
 * 1. An entry in use is never forgotten. Idle ones are, those first that have rested longest, until both bounds are kept or
 *    nothing idle is left. What is in use counts.
 * 2. Every operation costs the same, however many entries there are, besides the forgetting itself.
 * 3. An entry heavier than the whole bound stands beside the others: forgetting them all would not make room for it. The
 *    last such entry that came to rest stays until another one does, or enough others have: work on it goes on, mostly.
 */
export interface IdleCache<K, V> {
  get(key: K): V | undefined
  /** Keeps it, in use from now on, until it comes to rest. What an entry of this name weighed stays. */
  use(key: K, value: V): void
  /** Not in use any more. */
  rest(key: K): void
  /** What the entry weighs from now on. */
  weigh(key: K, weight: number): void
  delete(key: K): void
  readonly size: number
  /** Of all entries, without those heavier than the whole bound. */
  readonly weight: number
}

export interface IdleCacheBounds {
  readonly entries: number
  readonly weight: number
}

interface Entry<V> {
  value: V
  weight: number
}

/** So many others come to rest before an entry beyond the bound is forgotten. */
const PATIENCE = 1000

export const createIdleCache = <K, V>(bounds: IdleCacheBounds): IdleCache<K, V> => {
  const inUse = new Map<K, Entry<V>>()
  // In the order in which they came to rest: a map keeps the order in which keys were set.
  const idle = new Map<K, Entry<V>>()
  let total = 0
  let giant: K | undefined
  let patience = 0

  const isGiant = (entry: Entry<V>): boolean => entry.weight > bounds.weight
  const counted = (entry: Entry<V>): number => (isGiant(entry) ? 0 : entry.weight)
  const isOver = (): boolean => inUse.size + idle.size > bounds.entries

  const forget = (entries: Map<K, Entry<V>>, key: K): void => {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    total -= counted(entry)
  }

  const shrink = (): void => {
    for (const [key, entry] of idle) {
      if (total <= bounds.weight && !isOver()) return
      if (!isGiant(entry) || isOver()) forget(idle, key)
    }
  }

  const lookAfterGiant = (key: K, entry: Entry<V>): void => {
    if (isGiant(entry)) {
      if (giant !== undefined && giant !== key) forget(idle, giant)
      giant = key
      patience = PATIENCE
    } else if (giant !== undefined && (patience -= 1) <= 0) {
      forget(idle, giant)
      giant = undefined
    }
  }

  return {
    get: (key) => (inUse.get(key) ?? idle.get(key))?.value,
    use: (key, value) => {
      const entry = inUse.get(key) ?? idle.get(key) ?? { value, weight: 0 }
      entry.value = value
      idle.delete(key)
      inUse.set(key, entry)
      shrink()
    },
    rest: (key) => {
      const entry = inUse.get(key)
      if (!entry) return
      inUse.delete(key)
      idle.set(key, entry)
      lookAfterGiant(key, entry)
      shrink()
    },
    weigh: (key, weight) => {
      const entry = inUse.get(key) ?? idle.get(key)
      if (!entry) return
      total -= counted(entry)
      entry.weight = weight
      total += counted(entry)
      shrink()
    },
    delete: (key) => {
      forget(inUse, key)
      forget(idle, key)
    },
    get size() {
      return inUse.size + idle.size
    },
    get weight() {
      return total
    },
  }
}
