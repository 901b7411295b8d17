/**
 * A bounded cache that forgets what has not been used for a while. Two generations instead of an exact order: a hit
 * costs one lookup, and what was used in the last generation survives the next clearing.
 */
export interface Cache<Entry> {
  get(key: string): Entry | undefined
  set(key: string, entry: Entry): void
}

export const createCache = <Entry>(
  maxEntries: number,
  maxSize: number,
  sizeOf: (key: string, entry: Entry) => number = (key) => key.length,
): Cache<Entry> => {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let filled = 0
  const set = (key: string, entry: Entry): void => {
    const size = sizeOf(key, entry)
    if (size > maxSize) return
    if (young.size >= maxEntries || filled + size > maxSize) {
      old = young
      young = new Map()
      filled = 0
    }
    young.set(key, entry)
    filled += size
  }
  return {
    get: (key) => {
      const found = young.get(key)
      if (found !== undefined) return found
      const aged = old.get(key)
      if (aged !== undefined) {
        old.delete(key)
        set(key, aged)
      }
      return aged
    },
    set,
  }
}
