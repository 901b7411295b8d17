/** A map that forgets what was not used for the longest time. */
export interface Lru<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): void
  readonly size: number
}

export const createLru = <K, V>(limit: number, mayForget: (value: V) => boolean = () => true): Lru<K, V> => {
  const entries = new Map<K, V>()
  const shrink = (): void => {
    for (const [key, value] of entries) {
      if (entries.size <= limit) return
      if (mayForget(value)) entries.delete(key)
    }
  }
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
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > limit) shrink()
    },
    delete: (key) => void entries.delete(key),
    get size() {
      return entries.size
    },
  }
}
