/** "Did you mean": the nearest known word to a misspelt one, when there is a near one. */

/** ` Did you mean 'x'?` with a leading blank, or empty text. */
export const didYouMean = (word: string, candidates: Iterable<string>): string => {
  const nearest = nearestWord(word, candidates)
  return nearest === null ? '' : ` Did you mean '${nearest}'?`
}

const nearestWord = (word: string, candidates: Iterable<string>): string | null => {
  const wanted = word.toLowerCase()
  let best: string | null = null
  let bestDistance = allowedDistance(wanted) + 1
  for (const candidate of candidates) {
    if (candidate === word || Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance >= bestDistance) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** One slip in short words, two in common ones, three in long ones; a one-letter word resembles everything. */
const allowedDistance = (word: string): number => {
  if (word.length < 2 || word.length > 64) return 0
  if (word.length < 6) return 1
  return word.length < 10 ? 2 : 3
}

/** Insertions, deletions, replacements and swaps of neighbours, each counted as one. */
const editDistance = (left: string, right: string): number => {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1)
      current.push(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[right.length] ?? 0
}
