/**
 * The words of an expression: names, numbers, texts and operators, each with its place.
 *
 * 1. Reading stops at the closing mark (`}}` or `%}`, with an optional `-` or `+`) that is outside all brackets.
 * 2. After a dot digits are a position, so that `rows.0.1` is two steps and not one fraction.
 * 3. Reading is linear in the length of the source.
 */
import { TemplateSyntaxError } from './errors.ts'
import { FLOAT, type Value } from './values.ts'

export type Token =
  | { readonly kind: 'name'; readonly text: string; readonly offset: number }
  | { readonly kind: 'operator'; readonly text: string; readonly offset: number }
  | { readonly kind: 'number'; readonly text: string; readonly value: Value; readonly offset: number }
  | { readonly kind: 'text'; readonly text: string; readonly value: string; readonly offset: number }
  | { readonly kind: 'end'; readonly text: string; readonly offset: number }

export interface TokenRun {
  readonly tokens: Token[]
  /** Offset after the closing mark. */
  readonly next: number
  /** Whether the closing mark asks to drop the white space that follows. */
  readonly trimAfter: boolean
}

const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy
const NUMBER =
  /0[xX][0-9a-fA-F](?:_?[0-9a-fA-F])*|0[oO][0-7](?:_?[0-7])*|0[bB][01](?:_?[01])*|\d(?:_?\d)*(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?/y
const DIGITS = /\d+/y
const OPERATOR = /\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>=()[\]{}.,:|]/y
const SPACE = /\s+/y

const OPENING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

const matchAt = (pattern: RegExp, source: string, offset: number): string | undefined => {
  pattern.lastIndex = offset
  return pattern.exec(source)?.[0]
}

/** Reading long digits exactly would take more than linear time. */
const MAX_DIGITS = 1000

/** Infinity when it is too large to be read. */
const numberValue = (text: string): Value => {
  if (text.length > MAX_DIGITS) return Infinity
  const digits = text.replaceAll('_', '')
  if (/^0[xXoObB]|^\d+$/.test(digits)) {
    const exact = BigInt(digits)
    return exact <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(exact) : exact
  }
  const number = Number(digits)
  return Number.isInteger(number) ? { [FLOAT]: number } : number
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '/': '/',
  '\n': '',
}

const CODE = /\\(?:u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[\s\S])/g

const unescape = (body: string): string =>
  body.replace(CODE, (escape) => {
    const letter = escape.charAt(1)
    if (escape.length > 2) {
      const code = Number.parseInt(escape.slice(2).replace(/[{}]/g, ''), 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : escape
    }
    // An unknown escape stays as written, backslash included.
    return ESCAPES[letter] ?? escape
  })

/** The end of a quoted text, after its closing quote; -1 when it is not closed. */
const quotedEnd = (source: string, offset: number): number => {
  const quote = source.charAt(offset)
  for (let at = offset + 1; at < source.length; at += 1) {
    const letter = source.charAt(at)
    if (letter === '\\') at += 1
    else if (letter === quote) return at + 1
  }
  return -1
}

const readWord = (source: string, offset: number, previous: Token | undefined): Token => {
  const letter = source.charAt(offset)
  if (letter === '"' || letter === "'") {
    const end = quotedEnd(source, offset)
    if (end === -1) throw new TemplateSyntaxError('text is not closed', source, offset)
    const text = source.slice(offset, end)
    const body = text.slice(1, -1)
    return { kind: 'text', text, value: body.includes('\\') ? unescape(body) : body, offset }
  }
  const afterDot = previous?.kind === 'operator' && previous.text === '.'
  const digits = matchAt(afterDot ? DIGITS : NUMBER, source, offset)
  if (digits !== undefined) {
    const value = numberValue(digits)
    if (value === Infinity) throw new TemplateSyntaxError('number is too large', source, offset)
    return { kind: 'number', text: digits, value, offset }
  }
  const name = matchAt(WORD, source, offset)
  if (name !== undefined) return { kind: 'name', text: name, offset }
  const operator = matchAt(OPERATOR, source, offset)
  if (operator !== undefined) return { kind: 'operator', text: operator, offset }
  throw new TemplateSyntaxError(`unexpected character ${JSON.stringify(letter)}`, source, offset)
}

/** Keeps track of open brackets; complains about one that does not fit. */
const balance = (expected: string[], token: Token, source: string): void => {
  if (token.kind !== 'operator') return
  const closing = OPENING[token.text]
  if (closing !== undefined) expected.push(closing)
  else if (token.text === ')' || token.text === ']' || token.text === '}') {
    const wanted = expected.pop()
    if (wanted !== token.text) {
      const hint = wanted === undefined ? '' : `, expected '${wanted}'`
      throw new TemplateSyntaxError(`unexpected '${token.text}'${hint}`, source, token.offset)
    }
  }
}

/**
 * Reads the words from `start` to the closing mark. Without a mark (a bare condition) the source is read to its end.
 * `opened` is where the opening mark stands, for the complaint that it is never closed.
 */
export const readTokens = (
  source: string,
  start: number,
  opened: number,
  mark: '}}' | '%}' | undefined,
): TokenRun => {
  const tokens: Token[] = []
  const expected: string[] = []
  let offset = start
  for (;;) {
    offset += matchAt(SPACE, source, offset)?.length ?? 0
    if (offset >= source.length) {
      if (mark !== undefined) {
        throw new TemplateSyntaxError(`${mark === '}}' ? '{{' : '{%'} is never closed`, source, opened)
      }
      tokens.push({ kind: 'end', text: 'end of expression', offset })
      return { tokens, next: offset, trimAfter: false }
    }
    if (mark !== undefined && expected.length === 0) {
      const sign = source.charAt(offset)
      const signed = (sign === '-' || sign === '+') && source.startsWith(mark, offset + 1)
      if (signed || source.startsWith(mark, offset)) {
        tokens.push({ kind: 'end', text: mark, offset })
        return { tokens, next: offset + (signed ? 3 : 2), trimAfter: signed && sign === '-' }
      }
    }
    const token = readWord(source, offset, tokens.at(-1))
    balance(expected, token, source)
    tokens.push(token)
    offset += token.text.length
  }
}
