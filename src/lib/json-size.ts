/** How long a value's JSON text is, about; looks no further than needed to know that it is longer than a limit. */
export const isLargerThan = (value: unknown, limit: number): boolean => measure(value, limit) < 0

/** About the length of its JSON text; any number above the limit when it is longer than that. */
export const sizeUpTo = (value: unknown, limit: number): number => limit - measure(value, limit)

/** What is left of the budget after the value; negative when it is used up. */
const measure = (value: unknown, budget: number): number => {
  if (typeof value === 'string') return budget - value.length - 2
  if (typeof value !== 'object' || value === null) return budget - 5
  let left = budget - 2
  if (Array.isArray(value)) {
    for (const item of value) {
      left = measure(item, left - 1)
      if (left < 0) return left
    }
    return left
  }
  for (const key of Object.keys(value)) {
    left = measure((value as Record<string, unknown>)[key], left - key.length - 4)
    if (left < 0) return left
  }
  return left
}
