/**
 * A bounded cache that forgets what has not been used for a while. Two generations instead of an exact order: a hit
 * costs one lookup, and what was used in the last generation survives the next clearing.
 */
export interface Cache<Entry> {
  get(key: string): Entry | undefined
  set(key: string, entry: Entry): void
}

export const createCache = <Entry>(maxEntries: number, maxCharacters: number): Cache<Entry> => {
  let young = new Map<string, Entry>()
  let old = new Map<string, Entry>()
  let characters = 0
  const set = (key: string, entry: Entry): void => {
    if (key.length > maxCharacters) return
    if (young.size >= maxEntries || characters + key.length > maxCharacters) {
      old = young
      young = new Map()
      characters = 0
    }
    young.set(key, entry)
    characters += key.length
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
