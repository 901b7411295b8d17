/**
 * Data too large to be an object while nobody looks into it: it travels as the bytes of its JSON text, from the tool that made it
 * to the row it is kept in.
 *
 * 1. Whoever takes the bytes may move them to another thread, so they are taken once. Handing over the same `LargeData` again means the
 *    same data: who took it remembers what came of it.
 */

/** From here on data travels as bytes, and work on it is done in parts or elsewhere. */
export const LARGE_BYTES = 1024 * 1024

export interface LargeData {
  /** JSON text in UTF-8. */
  readonly json: Uint8Array
}
