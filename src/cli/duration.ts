/** Durations as people read them: `12 ms`, `1.4 s`, `2 min 5 s`, `1 h 3 min`. */
export const durationText = (durationMs: number): string => {
  const ms = Math.max(0, Math.round(durationMs))
  if (ms < 1000) return `${ms} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** How long ago, in the largest unit: `12 s ago`, `5 min ago`, `3 h ago`, `2 d ago`. */
export const ageText = (ageMs: number): string => {
  if (ageMs < 1000) return 'just now'
  if (ageMs < MINUTE_MS) return `${Math.floor(ageMs / 1000)} s ago`
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)} min ago`
  if (ageMs < 2 * DAY_MS) return `${Math.floor(ageMs / HOUR_MS)} h ago`
  return `${Math.floor(ageMs / DAY_MS)} d ago`
}
