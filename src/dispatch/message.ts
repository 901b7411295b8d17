/** What processes tell each other: which pools have work, which executions changed. Short, because carriers limit it. */

export interface Message {
  /** Who sent it, so that nobody listens to himself. */
  readonly from: string
  readonly pools: readonly string[]
  /** Executions with the position of their first new event; null when any execution may have changed. */
  readonly changes: ReadonlyMap<string, number> | null
  /** The sender lost hints before this one: everybody should look. */
  readonly gap: boolean
}

/** The text of a message, with single changes left out when they do not fit. */
export const encodeMessage = (message: Message, maxBytes: number): string => {
  const text = encode(message)
  if (Buffer.byteLength(text) <= maxBytes) return text
  const brief = encode({ ...message, changes: null })
  return Buffer.byteLength(brief) <= maxBytes
    ? brief
    : encode({ ...message, pools: [], changes: null, gap: true })
}

const encode = ({ from, pools, changes, gap }: Message): string =>
  JSON.stringify({
    f: from,
    ...(pools.length > 0 ? { p: pools } : {}),
    ...(changes === null ? { x: null } : changes.size > 0 ? { x: Object.fromEntries(changes) } : {}),
    ...(gap ? { g: 1 } : {}),
  })

/** Null when the text is none of ours: the channel may be used by others. */
export const decodeMessage = (text: string): Message | null => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const { f, p = [], x = {}, g } = value as { f?: unknown; p?: unknown; x?: unknown; g?: unknown }
  if (typeof f !== 'string' || !Array.isArray(p) || typeof x !== 'object') return null
  return {
    from: f,
    pools: p.filter((pool): pool is string => typeof pool === 'string'),
    changes: x === null ? null : new Map(Object.entries(x as Record<string, number>)),
    gap: g === 1,
  }
}
