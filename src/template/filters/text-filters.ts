/** Filters on text. The input counts by its text form. */
import { decodeBase64, encodeBase64 } from '../base64.ts'
import { optional, requiring, type Callable } from '../callable.ts'
import { fault } from '../errors.ts'
import { formatPercent } from '../format-text.ts'
import type { Frame } from '../frame.ts'
import { charge, chargeText, reserveText } from '../limits.ts'
import { wholeNumber } from '../sequences.ts'
import { textOf } from '../text-form.ts'
import {
  capitalize,
  replaceText,
  splitLines,
  splitText,
  splitWords,
  titleCase,
  trimCharacters,
} from '../text-tools.ts'
import { asMapping, characterCount, characters, isTrue, type Value } from '../values.ts'

const paid = (frame: Frame, value: Value): string => {
  const text = textOf(frame, value)
  chargeText(frame, text.length)
  return text
}

const changing = (change: (text: string) => string): Callable =>
  optional('', (frame, value) => change(paid(frame, value)))

const isNothing = (value: Value): boolean => value === undefined || value === null

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? letter)

const indent = (frame: Frame, value: Value, width: Value, first: Value, blank: Value): string => {
  const text = paid(frame, value)
  const size = wholeNumber(typeof width === 'string' ? undefined : width, 'indent width', 4)
  const lines = text.split('\n')
  const margin = typeof width === 'string' ? width : ' '.repeat(Math.min(Math.max(0, size), 10_000))
  reserveText(frame, text.length + lines.length * margin.length)
  return lines
    .map((line, index) => {
      const isIndented = (index > 0 || isTrue(first)) && (line !== '' || isTrue(blank) || index === 0)
      return isIndented ? margin + line : line
    })
    .join('\n')
}

const center = (frame: Frame, value: Value, width: Value): string => {
  const text = paid(frame, value)
  const full = wholeNumber(width, 'width', 80)
  const missing = full - characterCount(text)
  if (missing <= 0) return text
  reserveText(frame, text.length + missing)
  // An odd space goes to the left when the whole is odd, as in other implementations of the language.
  const before = Math.floor(missing / 2) + (missing & full & 1)
  return ' '.repeat(before) + text + ' '.repeat(missing - before)
}

const shorten = (
  frame: Frame,
  value: Value,
  length: Value,
  killWords: Value,
  end: Value,
  leeway: Value,
): string => {
  const text = paid(frame, value)
  const limit = Math.max(0, wholeNumber(length, 'length', 255))
  const ending = end === undefined ? '...' : textOf(frame, end)
  const letters = characters(text)
  if (letters.length <= limit + wholeNumber(leeway, 'leeway', 5)) return text
  const kept = letters.slice(0, Math.max(0, limit - characterCount(ending))).join('')
  if (isTrue(killWords)) return kept + ending
  const space = kept.lastIndexOf(' ')
  return (space === -1 ? kept : kept.slice(0, space)) + ending
}

const quote = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const quoteParameter = (text: string): string => quote(text).replaceAll('%20', '+')

const urlEncode = (frame: Frame, value: Value): string => {
  const mapping = asMapping(value)
  if (mapping === undefined) return quote(paid(frame, value)).replaceAll('%2F', '/')
  const keys = Object.keys(mapping)
  charge(frame, keys.length)
  return keys
    .filter((key) => !isNothing(mapping[key]))
    .map((key) => `${quoteParameter(key)}=${quoteParameter(paid(frame, mapping[key]))}`)
    .join('&')
}

const decode = (frame: Frame, value: Value): string => {
  const text = paid(frame, value)
  charge(frame, text.length / 16)
  return decodeBase64(text) ?? fault('b64decode: not base64 of UTF-8 text')
}

export const TEXT_FILTERS: readonly (readonly [string, Callable])[] = [
  ['string', optional('', (frame, value) => textOf(frame, value))],
  ['safe', optional('', (_frame, value) => value)],
  ['lower', changing((text) => text.toLowerCase())],
  ['upper', changing((text) => text.toUpperCase())],
  ['capitalize', changing(capitalize)],
  ['title', changing(titleCase)],
  [
    'trim',
    optional('chars', (frame, value, chars) =>
      trimCharacters(paid(frame, value), isNothing(chars) ? undefined : textOf(frame, chars), 'both'),
    ),
  ],
  ['escape', changing(escapeHtml)],
  ['e', changing(escapeHtml)],
  ['urlencode', optional('', urlEncode)],
  [
    'replace',
    requiring(2, 'old new count', (frame, value, old, replacement, count) =>
      replaceText(
        frame,
        paid(frame, value),
        textOf(frame, old),
        textOf(frame, replacement),
        wholeNumber(count, 'count', -1),
      ),
    ),
  ],
  [
    'split',
    optional('sep maxsplit', (frame, value, separator, limit) =>
      isNothing(value)
        ? []
        : splitText(
            frame,
            paid(frame, value),
            isNothing(separator) ? ' ' : textOf(frame, separator),
            wholeNumber(limit, 'maxsplit', -1),
          ),
    ),
  ],
  ['lines', optional('', (frame, value) => (isNothing(value) ? [] : splitLines(frame, paid(frame, value))))],
  ['wordcount', optional('', (frame, value) => splitWords(frame, paid(frame, value), -1).length)],
  ['indent', optional('width first blank', indent)],
  ['center', optional('width', center)],
  ['truncate', optional('length killwords end leeway', shorten)],
  [
    'format',
    {
      parameters: undefined,
      named: undefined,
      required: 0,
      apply: (frame, value, args) =>
        formatPercent(
          frame,
          paid(frame, value),
          args.positional,
          args.named.size > 0 ? Object.fromEntries(args.named) : undefined,
        ),
    },
  ],
  [
    'b64encode',
    optional('', (frame, value) => {
      const text = paid(frame, value)
      charge(frame, text.length / 16)
      reserveText(frame, text.length * 4)
      return encodeBase64(text)
    }),
  ],
  ['b64decode', optional('', decode)],
]
