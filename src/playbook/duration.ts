/** Durations as people write them: `30s`, `5m`, `250ms`, `1h30m`, or plain seconds. */
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds; null when the text is not a positive duration. */
export const parseDuration = (text: string): number | null => {
  const trimmed = text.trim()
  if (/^\d+(\.\d+)?$/.test(trimmed)) return positive(Number(trimmed) * 1000)
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed)) return null
  let total = 0
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  return positive(total)
}

const positive = (milliseconds: number): number | null => {
  const rounded = Math.round(milliseconds)
  return rounded > 0 && Number.isSafeInteger(rounded) ? rounded : null
}
