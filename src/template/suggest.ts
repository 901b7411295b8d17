/** Finds the known word that a mistyped one was probably meant to be. */

const MAX_LENGTH = 40

/** Letters to add, drop, replace or swap with their neighbour to get from one word to the other. */
const distance = (left: string, right: string): number => {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1)
      const isSwap =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      const swapped = isSwap ? (beforePrevious[column - 2] ?? 0) + 1 : replaced
      current.push(Math.min(replaced, swapped, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.length] ?? 0
}

export const suggest = (word: string, known: Iterable<string>): string | undefined => {
  if (word.length > MAX_LENGTH) return undefined
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.min(3, Math.max(2, Math.ceil(word.length / 2)))
  for (const candidate of known) {
    const found = distance(wanted, candidate)
    if (found < bestDistance) {
      best = candidate
      bestDistance = found
    }
  }
  return best
}

/** ` (did you mean 'x'?)` or nothing. */
export const hint = (word: string, known: Iterable<string>): string => {
  const found = suggest(word, known)
  return found === undefined ? '' : ` (did you mean '${found}'?)`
}
