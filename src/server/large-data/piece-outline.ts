/**
 * The outline of data that comes in pieces, without ever having all of it.
 *
 * 1. It is the outline that the whole data has: of a container in pieces so much is kept that its summary comes out the same.
 * 2. What it cannot tell that way, it refuses with `NotInPieces`: keys whose order or number only the whole mapping knows.
 * 3. `_context_updates` of a mapping is kept whole, whatever its size.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { REDACTED } from '../../contract/sensitive.ts'
import { isSensitiveKey, redact } from '../../contract/sensitive.ts'
import type { Outline } from '../../contract/summary.ts'
import {
  BUDGET,
  fieldsOf,
  PREVIEW_LENGTH,
  previewOf,
  reach,
  segmentsOf,
  summarise,
} from '../../contract/summary.ts'
import type { JsonPiece } from '../../lib/json-pieces.ts'
import { sizeUpTo } from '../../lib/json-size.ts'
import { createPieceBuilder, type PieceBuilder, setMember } from '../../lib/parse-large.ts'
import { createPieceWriter } from '../../lib/piece-writer.ts'

/** The data has to be looked at as a whole. */
export class NotInPieces extends Error {}

/** An outline, and the variables that the data brings for the execution. */
export interface DataOutline extends Outline {
  readonly updates?: Json
}

export const UPDATES = '_context_updates'

/** Keys that an object puts first, in their own order. */
const INDEX_KEY = /^(?:0|[1-9]\d{0,9})$/
/** A summary that has seen so many different keys has no room for more. */
const KEPT_KEYS = BUDGET + 2
/** What looks larger than this is certainly too large to be kept as it is. */
const SELECTED_SIZE = 4 * BUDGET

interface Wanted {
  readonly path: string
  /** What is left of the path from here on. */
  readonly rest: readonly string[]
}

interface Place {
  readonly kept: Json[] | Record<string, Json>
  readonly wanted: readonly Wanted[]
  /** Nothing of it may be left out. */
  readonly isWhole: boolean
  readonly keys: Set<string>
  count: number
}

/** A selected container that came in pieces and may still turn out to be small. */
interface Collected {
  readonly path: string
  readonly depth: number
  readonly builder: PieceBuilder
  size: number
}

export interface PieceOutliner {
  add(piece: JsonPiece): void
  outline(): DataOutline
}

export const createPieceOutliner = (selected: readonly string[]): PieceOutliner => {
  const open: Place[] = []
  const found = new Map<string, { readonly value: Json; readonly isCut: boolean }>()
  const preview = createPreview()
  let collecting: Collected[] = []
  let root: Place | null = null
  let data: Json = null

  const note = ({ path, rest }: Wanted, value: Json | undefined, isCut: boolean): void => {
    const reached = isCut ? value : reach(value, rest)
    if (reached !== undefined) found.set(path, { value: reached, isCut })
  }

  const addKey = (place: Place, key: string): void => {
    if (INDEX_KEY.test(key) || place.keys.has(key)) throw new NotInPieces()
    place.keys.add(key)
  }

  const keep = ({ kept, count, isWhole }: Place, key: string, value: Json): void => {
    if (Array.isArray(kept)) {
      if (isWhole || count === 0) kept.push(value)
    } else if (isWhole || count < KEPT_KEYS) setMember(kept, key, value)
  }

  const addItems = (place: Place, items: readonly Json[]): void => {
    for (const { rest, path } of place.wanted) {
      const index = Number(rest[0]) - place.count
      if (index in items) note({ path, rest: rest.slice(1) }, items[index], false)
    }
    if (place.isWhole) for (const item of items) keep(place, '', item)
    else keep(place, '', items[0] ?? null)
    place.count += items.length
  }

  const addFields = (place: Place, fields: JsonObject): void => {
    for (const { rest, path } of place.wanted) {
      const [name = '', ...inner] = rest
      if (Object.hasOwn(fields, name)) note({ path, rest: inner }, fields[name], false)
    }
    for (const [key, value] of Object.entries(fields)) {
      addKey(place, key)
      keep(place, key, value)
      place.count += 1
    }
  }

  /** Whatever was selected is whole when it is small, also where a cut fell into it. */
  const collect = (piece: JsonPiece): void => {
    for (const each of collecting) {
      each.size += piece.kind === 'members' ? sizeUpTo(piece.members, SELECTED_SIZE) : 2
      if (each.size > SELECTED_SIZE) continue
      each.builder.add(piece)
      if (piece.kind === 'close' && open.length === each.depth)
        found.set(each.path, { value: each.builder.value() as Json, isCut: false })
    }
    collecting = collecting.filter(
      ({ size, depth }) => size <= SELECTED_SIZE && !(piece.kind === 'close' && open.length === depth),
    )
  }

  const enter = (isList: boolean, key: string | null): void => {
    const parent = open.at(-1)
    const kept: Place['kept'] = isList ? [] : {}
    const name = key ?? String(parent?.count ?? '')
    const wanted =
      parent === undefined
        ? selected.map((path): Wanted => ({ path, rest: segmentsOf(path) }))
        : parent.wanted.filter(({ rest }) => isNamed(rest[0], name, key === null)).map(withoutFirst)
    for (const each of wanted) {
      if (!parent || each.rest.length > 0) continue
      note(each, kept, true)
      collecting.push({ path: each.path, depth: open.length + 1, builder: createPieceBuilder(), size: 0 })
    }
    const isWhole = parent?.isWhole === true || (parent !== undefined && parent === root && key === UPDATES)
    if (parent) {
      if (key !== null) addKey(parent, key)
      keep(parent, name, kept)
      parent.count += 1
    }
    const place: Place = { kept, wanted, isWhole, keys: new Set(), count: 0 }
    if (!parent) {
      root = place
      data = kept
    }
    open.push(place)
  }

  return {
    add(piece) {
      preview.add(piece)
      const place = open.at(-1)
      if (piece.kind === 'open') enter(piece.isList, piece.key)
      collect(piece)
      if (piece.kind === 'open') return
      if (piece.kind === 'close') open.pop()
      else if (piece.kind === 'whole') data = piece.value as Json
      else if (place && Array.isArray(piece.members)) addItems(place, piece.members as readonly Json[])
      else if (place) addFields(place, piece.members as JsonObject)
    },
    outline() {
      const updates = isObject(data) && Object.hasOwn(data, UPDATES) ? data[UPDATES] : undefined
      const at = (segments: readonly string[]): { value: Json; isCut: boolean } | undefined => {
        if (root) return found.get(pathOf(selected, segments))
        const value = reach(data, segments)
        return value === undefined ? undefined : { value, isCut: false }
      }
      const has = (name: string): boolean =>
        root ? root.keys.has(name) : isObject(data) && Object.hasOwn(data, name)
      return {
        summary: summarise(data),
        fields: fieldsOf(data, selected, { has, at }),
        preview: preview.text(),
        count: Array.isArray(data) ? (root?.count ?? data.length) : null,
        ...(updates === undefined ? {} : { updates }),
      }
    },
  }
}

const isNamed = (segment: string | undefined, name: string, isIndex: boolean): boolean =>
  segment !== undefined && (isIndex ? Number(segment) === Number(name) : segment === name)

const withoutFirst = ({ path, rest }: Wanted): Wanted => ({ path, rest: rest.slice(1) })

/** The selected path that these are the segments of. */
const pathOf = (selected: readonly string[], segments: readonly string[]): string =>
  selected.find((path) => segmentsOf(path).join('\0') === segments.join('\0')) ?? ''

const createPreview = (): { add(piece: JsonPiece): void; text(): string } => {
  let text = ''
  const write = createPieceWriter((more) => {
    if (text.length < PREVIEW_LENGTH) text += more.slice(0, PREVIEW_LENGTH)
  })
  const hide = createPieceRedactor(write)
  return {
    add(piece) {
      if (text.length < PREVIEW_LENGTH) hide(piece)
    },
    text: () => previewOf(text),
  }
}

/** Hands on pieces without what is sensitive. */
export const createPieceRedactor = (next: (piece: JsonPiece) => void): ((piece: JsonPiece) => void) => {
  /** Containers open inside of one that is hidden. */
  let hidden = 0
  return (piece) => {
    if (hidden > 0) {
      if (piece.kind === 'open') hidden += 1
      if (piece.kind === 'close') hidden -= 1
    } else if (piece.kind === 'open' && piece.key !== null && isSensitiveKey(piece.key)) {
      hidden = 1
      next({ kind: 'members', members: { [piece.key]: REDACTED } })
    } else if (piece.kind === 'members') next({ kind: 'members', members: redact(piece.members as Json) })
    else if (piece.kind === 'whole') next({ kind: 'whole', value: redact(piece.value as Json) })
    else next(piece)
  }
}
