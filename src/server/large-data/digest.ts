/**
 * Everything that is to be known of large data before it is stored, found out in one pass over its bytes.
 *
 * 1. The stored text is the one that `exactJson` gives for the whole value, whatever the text looked like that came.
 * 2. No more of the data becomes objects at a time than one piece, unless only the whole can tell (`NotInPieces`).
 * 3. The text is written with room for its seal around it.
 */
import { createHash } from 'node:crypto'
import type { Json } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { DEPTH_LIMIT, outlineOf } from '../../contract/summary.ts'
import { createByteWriter } from '../../lib/byte-writer.ts'
import { jsonPieces, type JsonPiece, type PieceOptions } from '../../lib/json-pieces.ts'
import { createPieceWriter } from '../../lib/piece-writer.ts'
import { SEAL_HEAD, SEAL_TAIL } from '../../lib/sealer.ts'
import {
  createPieceOutliner,
  createPieceRedactor,
  type DataOutline,
  NotInPieces,
  UPDATES,
} from './piece-outline.ts'

export interface Digest {
  /** The JSON text between room for its seal. */
  readonly room: Buffer
  /** Of the text. */
  readonly bytes: number
  readonly sha256: string
  readonly outline: DataOutline
}

type Pieces = Iterable<JsonPiece>

/** Containers below the depth of a summary are not cut: it counts their members. */
const piecesOf = (json: Buffer, options: PieceOptions): Pieces =>
  jsonPieces(json, { ...options, maxDepth: DEPTH_LIMIT })

/** `again` gives the whole value when its pieces do not do. */
export const digestPieces = (
  pieces: Pieces,
  selected: readonly string[],
  { expected, again }: { readonly expected: number; readonly again: () => Json },
): Digest => {
  try {
    return digestOnce(pieces, selected, expected)
  } catch (error) {
    if (!(error instanceof NotInPieces)) throw error
    return digestOnce([{ kind: 'whole', value: again() }], selected, expected)
  }
}

const digestOnce = (pieces: Pieces, selected: readonly string[], expected: number): Digest => {
  const writer = createByteWriter({ expected, head: SEAL_HEAD, tail: SEAL_TAIL })
  const hash = createHash('sha256')
  const write = createPieceWriter((text) => {
    const from = writer.position()
    writer.add(text)
    hash.update(writer.since(from))
  })
  const outliner = createPieceOutliner(selected)
  for (const piece of pieces) {
    outliner.add(piece)
    write(piece)
  }
  const room = writer.take()
  return {
    room,
    bytes: room.length - SEAL_HEAD - SEAL_TAIL,
    sha256: hash.digest('hex'),
    outline: outliner.outline(),
  }
}

const whole = (json: Buffer, { parse = JSON.parse }: PieceOptions): Json => parse(json.toString()) as Json

export const digestJson = (json: Buffer, selected: readonly string[], options: PieceOptions = {}): Digest =>
  digestPieces(piecesOf(json, options), selected, {
    expected: json.length,
    again: () => whole(json, options),
  })

export const outlineJson = (
  json: Buffer,
  selected: readonly string[],
  options: PieceOptions,
): DataOutline => {
  const outlineOfPieces = (pieces: Pieces): DataOutline => {
    const outliner = createPieceOutliner(selected)
    for (const piece of pieces) outliner.add(piece)
    return outliner.outline()
  }
  try {
    return outlineOfPieces(piecesOf(json, options))
  } catch (error) {
    if (!(error instanceof NotInPieces)) throw error
    return outlineOfPieces([{ kind: 'whole', value: whole(json, options) }])
  }
}

/** The same of data that is at hand as a value. */
export const dataOutline = (data: Json, text: string, selected: readonly string[]): DataOutline => ({
  ...outlineOf(data, text, selected),
  ...(isObject(data) && data[UPDATES] !== undefined ? { updates: data[UPDATES] } : {}),
})

/** The text without what is sensitive. */
export const redactJson = (json: Buffer, options: PieceOptions): Buffer => {
  const writer = createByteWriter({ expected: json.length })
  const write = createPieceRedactor(createPieceWriter(writer.add))
  for (const piece of jsonPieces(json, options)) write(piece)
  return writer.take()
}
