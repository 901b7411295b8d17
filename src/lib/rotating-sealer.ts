/** A sealer that survives a change of its key: seals with the current one, opens what any former one sealed. */
import type { Sealer } from './sealer.ts'
import { createSealer } from './sealer.ts'

export const createRotatingSealer = (current: Buffer, previous: readonly Buffer[]): Sealer => {
  const newest = createSealer(current)
  const others = previous.map(createSealer)
  return {
    seal: newest.seal,
    open: (bytes) => {
      try {
        return newest.open(bytes)
      } catch (error) {
        for (const sealer of others) {
          try {
            return sealer.open(bytes)
          } catch {
            // Sealed by yet another key.
          }
        }
        throw error
      }
    },
    sealInPlace: newest.sealInPlace,
    openBytes: async (bytes) => {
      try {
        return await newest.openBytes(bytes)
      } catch (error) {
        for (const sealer of others) {
          try {
            return await sealer.openBytes(bytes)
          } catch {
            // Sealed by yet another key.
          }
        }
        throw error
      }
    },
  }
}
