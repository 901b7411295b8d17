/** Chance that can be repeated: the same number gives the same faults in the same order. */
export interface Chance {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number. */
  between(low: number, high: number): number
  /** True this often. */
  happens(share: number): boolean
  pick<T>(items: readonly T[]): T
  /** One of the names, by their weights. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name
}

export const createChance = (seed: number): Chance => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    between: (low, high) => Math.round(low + next() * (high - low)),
    happens: (share) => next() < share,
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError('nothing to pick from')
      return items[Math.floor(next() * items.length)] as T
    },
    weighted: <Name extends string>(weights: Readonly<Record<Name, number>>): Name => {
      const names = Object.keys(weights) as Name[]
      let left = next() * names.reduce((sum, name) => sum + weights[name], 0)
      for (const name of names) if ((left -= weights[name]) < 0) return name
      return names.at(-1) as Name
    },
  }
}
