/** A map that forgets what was not used for the longest time, bounded by number and, on request, by weight. */
export interface Lru<K, V> {
  get(key: K): V | undefined
  /** The newest stays, whatever it weighs. */
  set(key: K, value: V): void
  delete(key: K): void
  readonly size: number
}

export interface Weighing<V> {
  /** What all may weigh together. */
  readonly limit: number
  /** What one weighs; always the same. */
  of(value: V): number
}

export const createLru = <K, V>(limit: number, weighing?: Weighing<V>): Lru<K, V> => {
  const entries = new Map<K, V>()
  let weight = 0
  const drop = (key: K): void => {
    const value = entries.get(key)
    if (value !== undefined && entries.delete(key)) weight -= weighing?.of(value) ?? 0
  }
  const isOver = (): boolean => entries.size > limit || (weighing !== undefined && weight > weighing.limit)
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value === undefined) return undefined
      // Re-inserting moves the key to the young end: Map keeps insertion order.
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set: (key, value) => {
      drop(key)
      entries.set(key, value)
      weight += weighing?.of(value) ?? 0
      for (const oldest of entries.keys()) {
        if (!isOver() || oldest === key) return
        drop(oldest)
      }
    },
    delete: drop,
    get size() {
      return entries.size
    },
  }
}
