/** Request headers: found in any case, sent as they were written. */
export interface HeaderList {
  has(name: string): boolean
  get(name: string): string | null
  set(name: string, value: string): void
  setDefault(name: string, value: string): void
  remove(...names: readonly string[]): void
  entries(): [string, string][]
  copy(): HeaderList
}

export const createHeaderList = (entries: readonly (readonly [string, string])[] = []): HeaderList => {
  const byName = new Map<string, [string, string]>()
  const set = (name: string, value: string): void => void byName.set(name.toLowerCase(), [name, value])
  for (const [name, value] of entries) set(name, value)
  const list: HeaderList = {
    has: (name) => byName.has(name.toLowerCase()),
    get: (name) => byName.get(name.toLowerCase())?.[1] ?? null,
    set,
    setDefault(name, value) {
      if (!list.has(name)) set(name, value)
    },
    remove(...names) {
      for (const name of names) byName.delete(name.toLowerCase())
    },
    entries: () => [...byName.values()],
    copy: () => createHeaderList([...byName.values()]),
  }
  return list
}
