/** JSON text with the secrets in it masked, piece by piece. */
import type { Json } from '../../contract/json.ts'
import { createByteWriter } from '../../lib/byte-writer.ts'
import { jsonPieces, type JsonPiece } from '../../lib/json-pieces.ts'
import { createPieceWriter } from '../../lib/piece-writer.ts'
import type { Masker } from '../credentials/masker.ts'

export const maskJson = (json: Buffer, masker: Masker): Buffer => {
  const writer = createByteWriter({ expected: json.length })
  const write = createPieceWriter(writer.add)
  for (const piece of jsonPieces(json)) write(masked(piece, masker))
  return writer.take()
}

const masked = (piece: JsonPiece, masker: Masker): JsonPiece => {
  if (piece.kind === 'open') return { ...piece, key: piece.key === null ? null : masker.text(piece.key) }
  if (piece.kind === 'members') return { ...piece, members: masker.value(piece.members as Json) }
  if (piece.kind === 'whole') return { ...piece, value: masker.value(piece.value as Json) }
  return piece
}
