/**
 * A place in a run of words, with the questions a parser asks about what comes next.
 * Nesting is counted here, because every way to nest passes through the cursor (`nested`).
 */
import { TemplateSyntaxError } from './errors.ts'
import { MAX_EXPRESSION_DEPTH, MAX_SOURCE_DEPTH } from './limits.ts'
import type { Expression, ExpressionShape } from './syntax-tree.ts'
import type { Token } from './tokens.ts'

export interface TokenCursor {
  readonly current: () => Token
  readonly following: () => Token
  readonly advance: () => Token
  readonly isOperator: (text: string) => boolean
  readonly isName: (text: string) => boolean
  /** Steps over the operator or name if it comes next. */
  readonly takeOperator: (text: string) => boolean
  readonly takeName: (text: string) => boolean
  readonly needOperator: (text: string) => void
  readonly needIdentifier: (what: string) => string
  readonly needEnd: () => void
  readonly fail: (message: string, offset?: number) => never
  readonly nested: <Result>(parse: () => Result) => Result
  /** Adds place and depth to a node. */
  readonly node: (
    offset: number,
    shape: ExpressionShape,
    parts: readonly (Expression | undefined)[],
  ) => Expression
}

/** A word as a complaint shows it. */
export const shown = (token: Token): string => (token.kind === 'end' ? token.text : `'${token.text}'`)

export const createTokenCursor = (source: string, tokens: readonly Token[]): TokenCursor => {
  const last = tokens.at(-1) ?? { kind: 'end', text: 'end', offset: source.length }
  let index = 0
  let depth = 0
  const current = (): Token => tokens[index] ?? last
  const isOperator = (text: string): boolean => current().kind === 'operator' && current().text === text
  const isName = (text: string): boolean => current().kind === 'name' && current().text === text
  const fail = (message: string, offset = current().offset): never => {
    throw new TemplateSyntaxError(message, source, offset)
  }
  const advance = (): Token => {
    const token = current()
    index += 1
    return token
  }
  const take = (matches: boolean): boolean => {
    if (matches) index += 1
    return matches
  }
  return {
    current,
    following: () => tokens[index + 1] ?? last,
    advance,
    isOperator,
    isName,
    takeOperator: (text) => take(isOperator(text)),
    takeName: (text) => take(isName(text)),
    needOperator: (text) => {
      if (!take(isOperator(text))) fail(`expected '${text}', found ${shown(current())}`)
    },
    needIdentifier: (what) => {
      if (current().kind !== 'name') fail(`expected ${what}, found ${shown(current())}`)
      return advance().text
    },
    needEnd: () => {
      if (current().kind !== 'end') fail(`unexpected ${shown(current())}`)
    },
    fail,
    nested: (parse) => {
      depth += 1
      if (depth > MAX_SOURCE_DEPTH) fail(`expression is nested deeper than ${MAX_SOURCE_DEPTH} levels`)
      const result = parse()
      depth -= 1
      return result
    },
    node: (offset, shape, parts) => {
      let deepest = 0
      for (const part of parts) if (part !== undefined && part.depth > deepest) deepest = part.depth
      if (deepest >= MAX_EXPRESSION_DEPTH) {
        fail(`expression has a chain of more than ${MAX_EXPRESSION_DEPTH} operations`, offset)
      }
      return { ...shape, offset, depth: deepest + 1 }
    },
  }
}
