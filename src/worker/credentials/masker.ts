/**
 * Replaces secrets by value in everything that leaves the worker.
 *
 * 1. Costs nothing until a secret is known, and one pass over the text afterwards.
 * 2. Values without secrets come back as the same objects.
 * 3. A secret that arrives in pieces is never shown: the end of a stream is held back while it may be the beginning of
 *    one, and no longer.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { REDACTED } from '../../contract/sensitive.ts'
import { setMember } from '../../template/values.ts'
import { createNeedleScanner, type NeedleScanner } from './needle-scanner.ts'
import { secretForms, secretTexts } from './secret-forms.ts'

export interface Masker {
  /** Whether there is anything to hide. */
  readonly isActive: boolean
  /** All secrets in this data are hidden from now on. */
  hide(data: Json): void
  /** The same for texts that another masker told. */
  hideTexts(texts: readonly string[]): void
  /** Every text that is hidden now. */
  texts(): readonly string[]
  text(text: string): string
  value<Value extends Json>(value: Value): Value
  stream(emit: (text: string) => void): MaskedStream
}

export interface MaskedStream {
  write(text: string): void
  /** Shows what is held back. */
  flush(): void
}

export const createMasker = (): Masker => {
  const needles = new Set<string>()
  let scanner: NeedleScanner | null = null

  const hideTexts = (texts: readonly string[]): void => {
    const known = needles.size
    for (const each of texts) needles.add(each)
    if (needles.size > known) scanner = createNeedleScanner([...needles])
  }

  const text = (plain: string): string =>
    scanner === null ? plain : maskPart(scanner, plain, 0, plain.length).text

  const value = (json: Json): Json => {
    if (typeof json === 'string') return text(json)
    if (typeof json === 'number') return needles.has(String(json)) ? REDACTED : json
    if (typeof json !== 'object' || json === null) return json
    return Array.isArray(json) ? list(json) : mapping(json as JsonObject)
  }

  const list = (items: readonly Json[]): Json => {
    let copy: Json[] | null = null
    for (const [index, item] of items.entries()) {
      const masked = value(item)
      if (masked !== item) (copy ??= [...items])[index] = masked
    }
    return copy ?? items
  }

  const mapping = (object: JsonObject): Json => {
    const copy: Record<string, Json> = {}
    let isSame = true
    for (const [key, item] of Object.entries(object)) {
      const maskedKey = text(key)
      const masked = value(item)
      isSame &&= maskedKey === key && masked === item
      setMember(copy, maskedKey, masked)
    }
    return isSame ? object : copy
  }

  return {
    get isActive() {
      return scanner !== null
    },
    hide(data) {
      hideTexts(secretTexts(data).flatMap(secretForms))
    },
    hideTexts,
    texts: () => [...needles],
    text,
    value: <Value extends Json>(json: Value) => (scanner === null ? json : (value(json) as Value)),
    stream: (emit) => createMaskedStream(() => scanner, emit),
  }
}

interface MaskedPart {
  readonly text: string
  /** How many characters after the part belong to a secret that it already shows as masked. */
  readonly covered: number
}

/** Masks a text up to `cut`; its first `covered` characters belong to a secret that was shown as masked before. */
const maskPart = (scanner: NeedleScanner, text: string, covered: number, cut: number): MaskedPart => {
  let masked = ''
  let end = covered
  let isOpen = covered > 0
  for (const span of scanner.spans(text)) {
    if (span.start >= cut) break
    if (!isOpen || span.start > end) masked += text.slice(end, span.start) + REDACTED
    end = Math.max(end, span.end)
    isOpen = true
  }
  if (end === 0 && cut === text.length) return { text, covered: 0 }
  return { text: end < cut ? masked + text.slice(end, cut) : masked, covered: Math.max(0, end - cut) }
}

const createMaskedStream = (
  scannerNow: () => NeedleScanner | null,
  emit: (text: string) => void,
): MaskedStream => {
  let held = ''
  let covered = 0

  const pass = (text: string, isLast: boolean): void => {
    const scanner = scannerNow()
    if (scanner === null) {
      if (text !== '') emit(text)
      return
    }
    const all = held + text
    const cut = isLast ? all.length : scanner.partialStart(all)
    const part = maskPart(scanner, all, covered, cut)
    held = all.slice(cut)
    covered = part.covered
    if (part.text !== '') emit(part.text)
  }

  return { write: (text) => pass(text, false), flush: () => pass('', true) }
}

/** Masks what is logged; errors become plain data, since theirs cannot be changed. */
export const maskFields = (masker: Masker, fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maskField(masker, value)]))

const maskField = (masker: Masker, value: unknown): unknown => {
  if (!(value instanceof Error)) {
    return typeof value === 'string' || Array.isArray(value) || isObject(value)
      ? masker.value(value as Json)
      : value
  }
  const { name, message, stack = '' } = value
  return masker.value({ type: name, message, stack })
}
