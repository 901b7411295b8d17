/** A small generator with a seed, so that a failure can be run again: integers from 0 up to, not including, `below`. */
export type Random = (below: number) => number

export const createRandom = (seed: number): Random => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
