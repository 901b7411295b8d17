/** Chance that can be repeated: the same number gives the same faults in the same order. */
import type { Random } from '../../src/engine/testing/random.ts'
import { createRandom } from '../../src/engine/testing/random.ts'

export interface Chance extends Pick<Random, 'pick'> {
  /** A whole number. */
  between(low: number, high: number): number
  /** True this often. */
  happens(share: number): boolean
  /** One of the names, by their weights, which are whole numbers. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name
}

export const createChance = (seed: number): Chance => {
  const { below, chance, pick } = createRandom(seed)
  return {
    pick,
    happens: chance,
    between: (low, high) => low + below(Math.floor(high - low) + 1),
    weighted: <Name extends string>(weights: Readonly<Record<Name, number>>): Name => {
      const names = Object.keys(weights) as Name[]
      return pick(names.flatMap((name) => Array.from({ length: weights[name] }, () => name)))
    },
  }
}
