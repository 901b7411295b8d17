/**
 * Cuts SQL text into tokens as PostgreSQL does, as far as it takes to know what is text, comment and code.
 *
 * 1. Tokens follow each other without gaps and cover the whole text; one that is not closed reaches to the end.
 * 2. Strings are read with standard_conforming_strings on: a backslash escapes in E'…' only.
 * 3. Block comments nest. A dollar quote does not start inside a word (`a$b$`), nor is `$1` one.
 */
export type SqlTokenKind = 'space' | 'comment' | 'quoted' | 'word' | 'symbol'

export interface SqlToken {
  readonly kind: SqlTokenKind
  readonly start: number
  /** Index after its last character. */
  readonly end: number
}

const SPACE = /\s+/y
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y
const NUMBER = /\d[\d.]*(?:[A-Za-z_]\w*)?/y
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y

const matchAt = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

const after = (index: number, length: number, text: string): number =>
  index === -1 ? text.length : index + length

/** The end of a quoted piece whose quote opens at `at`; a doubled quote is part of it. */
const endOfQuoted = (text: string, at: number, quote: string): number => {
  let close = at
  for (;;) {
    close = text.indexOf(quote, close + 1)
    if (close === -1) return text.length
    if (text[close + 1] !== quote) return close + 1
    close += 1
  }
}

/** Like endOfQuoted, where a backslash takes the next character along. */
const endOfEscaped = (text: string, at: number): number => {
  for (let index = at + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1
    else if (text[index] === "'") {
      if (text[index + 1] !== "'") return index + 1
      index += 1
    }
  }
  return text.length
}

const COMMENT_EDGE = /\/\*|\*\//g

const endOfBlockComment = (text: string, at: number): number => {
  let depth = 0
  COMMENT_EDGE.lastIndex = at
  for (let edge = COMMENT_EDGE.exec(text); edge !== null; edge = COMMENT_EDGE.exec(text)) {
    depth += edge[0] === '/*' ? 1 : -1
    if (depth === 0) return COMMENT_EDGE.lastIndex
  }
  return text.length
}

const endOfDollarQuoted = (text: string, at: number): number => {
  const tagEnd = matchAt(DOLLAR_TAG, text, at)
  if (tagEnd === at) return at
  const tag = text.slice(at, tagEnd)
  return after(text.indexOf(tag, tagEnd), tag.length, text)
}

const tokenAt = (text: string, start: number): SqlToken => {
  const first = text[start] as string
  const second = text[start + 1]
  const token = (kind: SqlTokenKind, end: number): SqlToken => ({ kind, start, end })
  if (first === "'" || first === '"') return token('quoted', endOfQuoted(text, start, first))
  if ((first === 'E' || first === 'e') && second === "'")
    return token('quoted', endOfEscaped(text, start + 1))
  if (first === '-' && second === '-') return token('comment', after(text.indexOf('\n', start), 1, text))
  if (first === '/' && second === '*') return token('comment', endOfBlockComment(text, start))
  if (first === '$') {
    const end = endOfDollarQuoted(text, start)
    if (end > start) return token('quoted', end)
  }
  if (first === ':' && second === ':') return token('symbol', start + 2)
  const space = matchAt(SPACE, text, start)
  if (space > start) return token('space', space)
  const word = matchAt(WORD, text, start)
  if (word > start) return token('word', word)
  return token('symbol', Math.max(start + 1, matchAt(NUMBER, text, start)))
}

export function* sqlTokens(text: string): Generator<SqlToken> {
  for (let at = 0; at < text.length;) {
    const token = tokenAt(text, at)
    yield token
    at = token.end
  }
}
