/**
 * Cuts JSON text of any size into pieces that are parsed one by one.
 *
 * 1. Put together again, the pieces are the value that parsing the whole text gives; text that is no JSON throws.
 * 2. One pass, nothing is looked for ahead: a piece is cut at the first comma after about a megabyte. Only a single text cannot
 *    be cut.
 * 3. A container is opened only when a cut falls into it, and never below `maxDepth`.
 */
export type JsonPiece =
  /** A container that comes in several pieces; `key` is its name in a mapping. */
  | { readonly kind: 'open'; readonly isList: boolean; readonly key: string | null }
  /** The next members of the container that was opened last: a list or a mapping, like the container. */
  | { readonly kind: 'members'; readonly members: unknown }
  | { readonly kind: 'close' }
  /** The document in one piece. */
  | { readonly kind: 'whole'; readonly value: unknown }

export interface PieceOptions {
  readonly sliceBytes?: number
  readonly maxDepth?: number
  readonly parse?: (text: string) => unknown
}

export const SLICE_BYTES = 1024 * 1024

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_MAPPING = 0x7b
const CLOSE_MAPPING = 0x7d

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** The position after the text that begins at `start`. */
const afterText = (bytes: Buffer, start: number): number => {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at += 1
  }
  return bytes.length
}

interface Frame {
  readonly isList: boolean
  readonly start: number
  memberStart: number
  /** Where what was not given out yet begins. */
  pendingStart: number
  isOpen: boolean
  /** The member under way was given out as a container of its own. */
  isMemberDone: boolean
}

const broken = (at: number): SyntaxError => new SyntaxError(`Unexpected token in JSON near byte ${at}`)

export function* jsonPieces(bytes: Buffer, options: PieceOptions = {}): Generator<JsonPiece, void> {
  const cutter = createCutter(bytes, options)
  for (let at = 0; at < bytes.length && !cutter.isDone();) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = afterText(bytes, at)
      continue
    }
    if (byte === COMMA) yield* cutter.comma(at)
    else if (byte === OPEN_LIST || byte === OPEN_MAPPING) cutter.open(byte === OPEN_LIST, at)
    else if (byte === CLOSE_LIST || byte === CLOSE_MAPPING) yield* cutter.close(byte === CLOSE_LIST, at)
    at += 1
  }
  if (!cutter.isDone()) yield cutter.whole()
}

/** Is told of commas and brackets outside of texts, and says which pieces that makes. */
interface Cutter {
  open(isList: boolean, at: number): void
  comma(at: number): Iterable<JsonPiece>
  close(isList: boolean, at: number): Iterable<JsonPiece>
  /** The document was given out in pieces. */
  isDone(): boolean
  /** The document that was not cut anywhere. */
  whole(): JsonPiece
}

const NOTHING: readonly JsonPiece[] = []

const createCutter = (bytes: Buffer, options: PieceOptions): Cutter => {
  const { sliceBytes = SLICE_BYTES, maxDepth = Infinity, parse = JSON.parse } = options
  const stack: Frame[] = []
  let flushedAt = 0
  let isCut = false
  let isDone = false

  const textOf = (start: number, end: number): string => bytes.toString('utf8', start, end)

  const isBlank = (start: number, end: number): boolean => {
    for (let at = start; at < end; at += 1) if (!isSpace(bytes[at])) return false
    return true
  }

  const needBlank = (start: number, end: number): void => {
    if (!isBlank(start, end)) throw broken(start)
  }

  const members = ({ isList }: Frame, start: number, end: number): JsonPiece => {
    if (isBlank(start, end)) throw broken(start)
    const text = textOf(start, end)
    return { kind: 'members', members: parse(isList ? `[${text}]` : `{${text}}`) }
  }

  /** The name of the member that the container under way is. */
  const keyOf = (parent: Frame | undefined, { start }: Frame): string | null => {
    if (parent === undefined) {
      needBlank(0, start)
      return null
    }
    if (parent.isList) {
      needBlank(parent.memberStart, start)
      return null
    }
    const text = textOf(parent.memberStart, start).trim()
    const key: unknown = text.endsWith(':') ? JSON.parse(text.slice(0, -1)) : null
    if (typeof key !== 'string') throw broken(parent.memberStart)
    return key
  }

  /** Gives out everything that is complete at the comma at `at`, from the outside to the inside. */
  function* flush(at: number): Generator<JsonPiece, void> {
    isCut = true
    const depth = Math.min(stack.length, maxDepth)
    for (let level = 0; level < depth; level += 1) {
      const frame = stack[level] as Frame
      if (frame.isMemberDone) throw broken(frame.pendingStart)
      if (!frame.isOpen) yield { kind: 'open', isList: frame.isList, key: keyOf(stack[level - 1], frame) }
      frame.isOpen = true
      const isInnermost = level === stack.length - 1
      const end = isInnermost ? at : frame.memberStart - 1
      if (isInnermost || end > frame.pendingStart) yield members(frame, frame.pendingStart, end)
      frame.pendingStart = isInnermost ? at + 1 : frame.memberStart
    }
    flushedAt = at
  }

  function* closeOpen(frame: Frame, at: number): Generator<JsonPiece, void> {
    if (frame.isMemberDone) needBlank(frame.pendingStart, at)
    else yield members(frame, frame.pendingStart, at)
    yield { kind: 'close' }
    flushedAt = at
    const parent = stack.at(-1)
    if (parent === undefined) {
      needBlank(at + 1, bytes.length)
      isDone = true
    } else {
      parent.pendingStart = at + 1
      parent.isMemberDone = true
    }
  }

  return {
    open(isList, start) {
      const next = start + 1
      stack.push({ isList, start, memberStart: next, pendingStart: next, isOpen: false, isMemberDone: false })
    },
    comma(at) {
      const frame = stack.at(-1)
      if (frame === undefined) throw broken(at)
      const isDue = !frame.isMemberDone && at - flushedAt > sliceBytes
      const pieces = isDue ? [...flush(at)] : NOTHING
      if (frame.isMemberDone) {
        needBlank(frame.pendingStart, at)
        frame.pendingStart = at + 1
        frame.isMemberDone = false
      }
      frame.memberStart = at + 1
      return pieces
    },
    close(isList, at) {
      const frame = stack.pop()
      if (frame?.isList !== isList) throw broken(at)
      return frame.isOpen ? closeOpen(frame, at) : NOTHING
    },
    isDone: () => isDone,
    whole() {
      if (isCut) throw new SyntaxError('Unexpected end of JSON input')
      return { kind: 'whole', value: parse(textOf(0, bytes.length)) }
    },
  }
}
