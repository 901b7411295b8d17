/**
 * Finds the place in the YAML source of a character inside a scalar's value. YAML only ever changes the blanks
 * of a scalar (indentation, folding) and its escapes, so the n-th visible character of the value is the n-th
 * visible character of the source, once escapes are read.
 */
import type { YamlScalar } from './yaml-tree.ts'

/** Offset in `source` of `value[index]`; the start of the scalar when it cannot be told. */
export const sourceOffset = (source: string, scalar: YamlScalar, index: number): number => {
  const value = scalar.text
  const isVisible = index < value.length && !isBlank(value[index] ?? '')
  let remaining = visibleCount(value.slice(0, index))
  if (!isVisible && remaining === 0) return contentStart(source, scalar)
  let offset = contentStart(source, scalar)
  while (offset < scalar.end) {
    const unit = unitAt(source, offset, scalar)
    if (unit.visible > 0 && remaining === 0) return offset
    remaining -= unit.visible
    offset += unit.width
    // A blank has no place of its own: it is right behind the visible character before it.
    if (!isVisible && unit.visible > 0 && remaining <= 0) return offset
    if (remaining < 0) return offset - unit.width
  }
  return scalar.offset
}

const isBlank = (character: string): boolean => /\s/.test(character)

const visibleCount = (text: string): number => text.replace(/\s/g, '').length

const contentStart = (source: string, scalar: YamlScalar): number => {
  if (scalar.style === 'plain') return scalar.offset
  if (scalar.style === 'single' || scalar.style === 'double') return scalar.offset + 1
  // The header line of a block holds indicators and perhaps a comment, never content.
  const headerEnd = source.indexOf('\n', scalar.offset)
  return headerEnd === -1 ? scalar.offset : headerEnd + 1
}

interface Unit {
  readonly width: number
  /** UTF-16 units of visible text that the unit stands for. */
  readonly visible: number
}

const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

const unitAt = (source: string, offset: number, scalar: YamlScalar): Unit => {
  const character = source[offset] ?? ''
  if (scalar.style === 'single' && character === "'" && source[offset + 1] === "'")
    return { width: 2, visible: 1 }
  if (scalar.style !== 'double' || character !== '\\')
    return { width: 1, visible: isBlank(character) ? 0 : 1 }
  const escape = source[offset + 1] ?? ''
  const digits = HEX_ESCAPES[escape]
  if (digits === undefined) return { width: 2, visible: /[ntrvf_LP\s]/.test(escape) ? 0 : 1 }
  const code = Number.parseInt(source.slice(offset + 2, offset + 2 + digits), 16)
  const text = code <= 0x10ffff ? String.fromCodePoint(code) : '?'
  return { width: 2 + digits, visible: visibleCount(text) }
}
