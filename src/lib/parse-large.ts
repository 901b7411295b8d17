/**
 * Parses JSON of any size without keeping the process to itself.
 *
 * 1. The value is the one that parsing the whole text gives.
 * 2. Between two pieces everybody else gets a turn (`json-pieces.ts` says how pieces are cut).
 * 3. Small input is parsed at once.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { jsonPieces, type JsonPiece, type PieceOptions } from './json-pieces.ts'

export interface LargeJsonOptions extends PieceOptions {
  /** Lets others have a turn. */
  readonly pause?: () => Promise<unknown>
}

export const parseLarge = async (bytes: Buffer, options: LargeJsonOptions = {}): Promise<unknown> => {
  const { pause = nextTurn } = options
  const built = createPieceBuilder()
  for (const piece of jsonPieces(bytes, options)) {
    built.add(piece)
    if (piece.kind === 'members') await pause()
  }
  return built.value()
}

type Container = unknown[] | Record<string, unknown>

export interface PieceBuilder {
  add(piece: JsonPiece): void
  value(): unknown
}

/** Puts pieces together again. */
export const createPieceBuilder = (): PieceBuilder => {
  const open: Container[] = []
  let result: unknown

  const put = (container: Container | undefined, key: string | null, value: unknown): void => {
    if (container === undefined) result = value
    else if (Array.isArray(container)) container.push(value)
    else setMember(container, key ?? '', value)
  }

  return {
    add(piece) {
      const container = open.at(-1)
      if (piece.kind === 'whole') result = piece.value
      else if (piece.kind === 'close') open.pop()
      else if (piece.kind === 'open') {
        const opened: Container = piece.isList ? [] : {}
        put(container, piece.key, opened)
        open.push(opened)
      } else if (Array.isArray(container)) {
        for (const item of piece.members as readonly unknown[]) container.push(item)
      } else if (container !== undefined) {
        for (const [key, value] of Object.entries(piece.members as object)) setMember(container, key, value)
      }
    },
    value: () => result,
  }
}

/** Like JSON.parse, which makes `__proto__` a key like any other. */
export const setMember = (object: Record<string, unknown>, key: string, value: unknown): void => {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}
