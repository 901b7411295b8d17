/** Work on text that filters and methods share. Everything that can grow asks for its size first. */
import { fault } from './errors.ts'
import { chargeSearch, chargeText, charge, reserveText, type Budget } from './limits.ts'
import { characters } from './values.ts'

export const capitalize = (text: string): string => {
  const first = text.codePointAt(0)
  if (first === undefined) return ''
  const head = String.fromCodePoint(first)
  return head.toUpperCase() + text.slice(head.length).toLowerCase()
}

/** Every word with a capital letter; words end at white space, a hyphen or an opening bracket. */
export const titleCase = (text: string): string => text.replace(/[^-\s({[<]+/g, capitalize)

const split = (budget: Budget, text: string, separator: string): string[] => {
  if (separator === '') return fault('separator is empty')
  chargeSearch(budget, text, separator)
  const parts = text.split(separator)
  charge(budget, parts.length / 8)
  return parts
}

/** At most `limit` cuts when given, the rest stays together. */
export const splitText = (budget: Budget, text: string, separator: string, limit: number): string[] => {
  const parts = split(budget, text, separator)
  if (limit < 0 || parts.length <= limit + 1) return parts
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)]
}

/** Cuts at runs of white space and leaves out the empty parts at the ends. */
export const splitWords = (budget: Budget, text: string, limit: number): string[] => {
  chargeText(budget, text.length)
  const words = text.match(/\S+/g) ?? []
  charge(budget, words.length / 8)
  if (limit < 0 || words.length <= limit) return words
  const rest = /\S/.exec(text)
  if (limit === 0) return rest === null ? [] : [text.slice(rest.index)]
  const pattern = /\S+/g
  for (let word = 0; word < limit; word += 1) pattern.exec(text)
  return [...words.slice(0, limit), text.slice(pattern.lastIndex).trimStart()]
}

export const splitLines = (budget: Budget, text: string): string[] => {
  chargeText(budget, text.length)
  const lines = text.split(/\r\n|\n|\r/)
  charge(budget, lines.length / 8)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export const replaceText = (
  budget: Budget,
  text: string,
  old: string,
  replacement: string,
  limit: number,
): string => {
  let parts: string[]
  if (old === '') {
    chargeText(budget, text.length)
    parts = ['', ...characters(text), '']
  } else {
    parts = split(budget, text, old)
  }
  if (limit >= 0 && parts.length > limit + 1) {
    parts = [...parts.slice(0, limit), parts.slice(limit).join(old)]
  }
  reserveText(budget, text.length + (parts.length - 1) * (replacement.length - old.length))
  return parts.join(replacement)
}

export const repeatText = (budget: Budget, text: string, times: number): string => {
  if (times <= 0 || text === '') return ''
  reserveText(budget, text.length * times)
  return text.repeat(times)
}

export const joinTexts = (budget: Budget, texts: readonly string[], separator: string): string => {
  let length = separator.length * Math.max(0, texts.length - 1)
  for (const text of texts) length += text.length
  reserveText(budget, length)
  return texts.join(separator)
}

export const trimCharacters = (
  text: string,
  unwanted: string | undefined,
  ends: 'both' | 'start' | 'end',
): string => {
  if (unwanted === undefined) {
    return ends === 'both' ? text.trim() : ends === 'start' ? text.trimStart() : text.trimEnd()
  }
  const drop = new Set(characters(unwanted))
  const letters = characters(text)
  let from = 0
  let to = letters.length
  if (ends !== 'end') while (from < to && drop.has(letters[from] ?? '')) from += 1
  if (ends !== 'start') while (to > from && drop.has(letters[to - 1] ?? '')) to -= 1
  return letters.slice(from, to).join('')
}
