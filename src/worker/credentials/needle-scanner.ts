/**
 * Finds many texts in one at once.
 *
 * 1. One pass, whatever the number of needles: a look at two characters says how far the search can skip.
 * 2. Spans are disjoint and in order; needles that overlap or touch are one span, so that no end of one is left over.
 * 3. `partialStart` is where the end of a text may be the beginning of a needle.
 */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface NeedleScanner {
  spans(text: string): readonly Span[]
  /** The length of the text when it ends with no beginning of a needle. */
  partialStart(text: string): number
}

const TABLE_SIZE = 4096
const LONGEST_SKIP = 255

/** Of the pair of characters that ends at this position. */
const pairHash = (text: string, end: number): number =>
  ((text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end)) & (TABLE_SIZE - 1)

const groupBy = (
  needles: readonly string[],
  keyOf: (needle: string) => number,
): ReadonlyMap<number, readonly string[]> => {
  const groups = new Map<number, string[]>()
  for (const needle of needles) {
    const group = groups.get(keyOf(needle))
    if (group === undefined) groups.set(keyOf(needle), [needle])
    else group.push(needle)
  }
  return groups
}

/** How far the search may go on after seeing a pair; 0 when a needle may begin a window before it. */
const skipTable = (needles: readonly string[], window: number): Uint8Array => {
  const skips = new Uint8Array(TABLE_SIZE).fill(Math.min(window - 1, LONGEST_SKIP))
  for (const needle of needles) {
    for (let end = 1; end < window; end += 1) {
      const hash = pairHash(needle, end)
      skips[hash] = Math.min(skips[hash] ?? 0, window - 1 - end)
    }
  }
  return skips
}

/** Needles have at least two characters. */
export const createNeedleScanner = (needles: readonly string[]): NeedleScanner => {
  const window = Math.min(...needles.map((needle) => needle.length))
  const longest = Math.max(...needles.map((needle) => needle.length))
  const skips = skipTable(needles, window)
  const byWindow = groupBy(needles, (needle) => pairHash(needle, window - 1))
  const byFirst = groupBy(needles, (needle) => needle.charCodeAt(0))

  const lengthAt = (text: string, start: number, hash: number): number => {
    let length = 0
    for (const needle of byWindow.get(hash) ?? []) {
      if (needle.length > length && text.startsWith(needle, start)) length = needle.length
    }
    return length
  }

  const isPartial = (text: string, start: number): boolean => {
    const group = byFirst.get(text.charCodeAt(start))
    if (group === undefined) return false
    const tail = text.slice(start)
    return group.some((needle) => needle.length > tail.length && needle.startsWith(tail))
  }

  return {
    spans(text) {
      const spans: { start: number; end: number }[] = []
      let last: { start: number; end: number } | undefined
      for (let at = window - 1; at < text.length;) {
        const hash = pairHash(text, at)
        const skip = skips[hash] ?? 0
        if (skip > 0) {
          at += skip
          continue
        }
        const start = at - window + 1
        const length = lengthAt(text, start, hash)
        if (length > 0) {
          const end = start + length
          if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end)
          else spans.push((last = { start, end }))
        }
        at += 1
      }
      return spans
    },
    partialStart(text) {
      for (let start = Math.max(0, text.length - longest + 1); start < text.length; start += 1) {
        if (isPartial(text, start)) return start
      }
      return text.length
    },
  }
}
