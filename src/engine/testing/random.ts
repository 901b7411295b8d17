/** Random choices that a number makes repeatable. */
export interface Random {
  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number
  chance(probability: number): boolean
  pick<Value>(values: readonly Value[]): Value
}

export const createRandom = (seed: number): Random => {
  let state = (seed ^ 0x5bd1e995) >>> 0
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
  const below = (bound: number): number => Math.floor(next() * bound)
  return {
    below,
    chance: (probability) => next() < probability,
    pick: (values) => {
      const value = values[below(values.length)]
      if (value === undefined) throw new Error('nothing to pick from')
      return value
    },
  }
}
