/** Data that was stored or read lately, within a budget of bytes; what was not used for longest goes first. */
import type { Json } from '../contract/json.ts'

/** Data that is known to be gone has neither. */
export interface Held {
  readonly data?: Json | undefined
  /** Large data that nobody has looked into yet, as it is stored. */
  readonly sealed?: Buffer
  readonly bytes: number
}

export interface HeldData {
  get(ref: string): Held | undefined
  /** The newest stays, whatever its size. */
  hold(ref: string, entry: Held): void
}

/** What an entry costs besides its data. */
const ENTRY_BYTES = 500

export const createHeldData = (budgetBytes: number): HeldData => {
  // In the order of use: a map keeps the order in which keys were set.
  const held = new Map<string, Held>()
  let heldBytes = 0

  const drop = (ref: string): void => {
    const entry = held.get(ref)
    if (!entry) return
    held.delete(ref)
    heldBytes -= entry.bytes + ENTRY_BYTES
  }

  return {
    get: (ref) => {
      const entry = held.get(ref)
      if (entry) {
        held.delete(ref)
        held.set(ref, entry)
      }
      return entry
    },
    hold: (ref, entry) => {
      drop(ref)
      held.set(ref, entry)
      heldBytes += entry.bytes + ENTRY_BYTES
      for (const oldest of held.keys()) {
        if (heldBytes <= budgetBytes || oldest === ref) break
        drop(oldest)
      }
    },
  }
}
