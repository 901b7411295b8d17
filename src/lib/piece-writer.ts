/** Writes pieces of JSON (`json-pieces.ts`) as the text they are pieces of, in the form of `exactJson`. */
import { exactJson } from './exact-json.ts'
import type { JsonPiece } from './json-pieces.ts'

export const createPieceWriter = (add: (text: string) => void): ((piece: JsonPiece) => void) => {
  /** The containers under way: how each ends, and whether it has members already. */
  const open: { readonly end: string; hasMembers: boolean }[] = []

  const separator = (): string => {
    const container = open.at(-1)
    if (container === undefined) return ''
    const { hasMembers } = container
    container.hasMembers = true
    return hasMembers ? ',' : ''
  }

  return (piece) => {
    if (piece.kind === 'whole') add(exactJson(piece.value))
    else if (piece.kind === 'close') add(open.pop()?.end ?? '')
    else if (piece.kind === 'open') {
      const name = piece.key === null ? '' : `${JSON.stringify(piece.key)}:`
      add(separator() + name + (piece.isList ? '[' : '{'))
      open.push({ end: piece.isList ? ']' : '}', hasMembers: false })
    } else {
      const inner = exactJson(piece.members).slice(1, -1)
      if (inner !== '') add(separator() + inner)
    }
  }
}
