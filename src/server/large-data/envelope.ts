/**
 * The body of a request that stores a result: small facts, and the data, which may be large.
 *
 * The data is handed on in pieces as they come; the facts are known at the end.
 */
import type { JsonObject } from '../../contract/json.ts'
import type { JsonPiece } from '../../lib/json-pieces.ts'
import { NotInPieces } from './piece-outline.ts'

export interface Envelope {
  /** The pieces of the data; to be read to their end, once. */
  readonly data: Generator<JsonPiece, void>
  /** Everything but the data; null when the body is no mapping. */
  facts(): JsonObject | null
  hasData(): boolean
}

const DATA = 'data'

export const openEnvelope = (pieces: Iterable<JsonPiece>): Envelope => {
  let facts: Record<string, unknown> | null = null
  let hasData = false

  const takeData = (): void => {
    // Of two the last one counts, which only the whole body tells.
    if (hasData) throw new NotInPieces()
    hasData = true
  }

  function* takeMembers(members: object): Generator<JsonPiece, void> {
    if (Array.isArray(members)) return
    const { [DATA]: data, ...others } = members as Record<string, unknown>
    facts = { ...facts, ...others }
    if (data === undefined) return
    takeData()
    yield { kind: 'whole', value: data }
  }

  function* read(): Generator<JsonPiece, void> {
    /** Containers open now, the body itself among them. */
    let depth = 0
    let isData = false
    for (const piece of pieces) {
      if (piece.kind === 'whole') {
        if (typeof piece.value === 'object' && piece.value !== null) yield* takeMembers(piece.value)
        continue
      }
      if (piece.kind === 'close') depth -= 1
      if (depth === 1 && piece.kind === 'open') {
        isData = piece.key === DATA
        if (isData) takeData()
        else if (piece.key !== null) facts = { ...facts, [piece.key]: piece.isList ? [] : {} }
      }
      if (depth === 1 && piece.kind === 'members') yield* takeMembers(piece.members as object)
      else if (depth > 0 && isData)
        yield depth === 1 && piece.kind === 'open' ? { ...piece, key: null } : piece
      if (depth === 0 && piece.kind === 'open' && !piece.isList) facts ??= {}
      if (piece.kind === 'open') depth += 1
    }
  }

  return { data: read(), facts: () => facts as JsonObject | null, hasData: () => hasData }
}
