/**
 * Segments to statements.
 *
 * 1. Every block is closed by its own end word; a stray or missing one is named with its place.
 * 2. Templates stand alone: there is no including, importing, inheriting and no macro.
 */
import { TemplateSyntaxError } from './errors.ts'
import { MAX_SOURCE_DEPTH } from './limits.ts'
import { parseExpression, parseOr, parseWholeExpression } from './parse-expression.ts'
import { parseFilter } from './parse-postfix.ts'
import type { Segment } from './segments.ts'
import { hint } from './suggest.ts'
import type { Body, Branch, Expression, Node, Target } from './syntax-tree.ts'
import { createTokenCursor, type TokenCursor } from './token-cursor.ts'

const NO_STATEMENTS_FOR: ReadonlySet<string> = new Set(
  'include import from extends block macro call autoescape trans'.split(' '),
)
const CLOSING: ReadonlySet<string> = new Set(
  'elif else endif endfor endset endwith endfilter endraw'.split(' '),
)

/** What closed a body: the word, and a cursor after it. */
interface Closing {
  readonly word: string
  readonly cursor: TokenCursor
}

interface Block {
  readonly body: Body
  readonly closing: Closing
}

/** Reads on through the segments; one per template. */
interface Reader {
  /** A body up to one of the closing words. */
  readonly block: (opened: string, offset: number, closings: readonly string[], inLoop: boolean) => Block
}

type ParseStatement = (cursor: TokenCursor, offset: number, reader: Reader, inLoop: boolean) => Node

const parseIf: ParseStatement = (cursor, offset, reader, inLoop) => {
  const branches: Branch[] = []
  let condition: Expression | undefined = parseWholeExpression(cursor)
  for (;;) {
    const closings = condition === undefined ? ['endif'] : ['elif', 'else', 'endif']
    const { body, closing } = reader.block('if', offset, closings, inLoop)
    branches.push({ condition, body })
    if (closing.word === 'elif') {
      condition = parseWholeExpression(closing.cursor)
      continue
    }
    closing.cursor.needEnd()
    if (closing.word === 'endif') return { kind: 'if', branches }
    condition = undefined
  }
}

const parseNames = (cursor: TokenCursor): string[] => {
  const grouped = cursor.takeOperator('(')
  const names = [cursor.needIdentifier('a name')]
  while (cursor.takeOperator(',')) names.push(cursor.needIdentifier('a name'))
  if (grouped) cursor.needOperator(')')
  return names
}

const parseFor: ParseStatement = (cursor, offset, reader, inLoop) => {
  const names = parseNames(cursor)
  if (!cursor.takeName('in')) cursor.fail("expected 'in'")
  const iterable = parseOr(cursor)
  const condition = cursor.takeName('if') ? parseExpression(cursor) : undefined
  if (cursor.isName('recursive')) cursor.fail("'recursive' loops are not available")
  cursor.needEnd()
  const main = reader.block('for', offset, ['else', 'endfor'], true)
  main.closing.cursor.needEnd()
  const shape = { kind: 'for', offset, names, iterable, condition, body: main.body } as const
  if (main.closing.word === 'endfor') return { ...shape, otherwise: undefined }
  const otherwise = reader.block('for', offset, ['endfor'], inLoop)
  otherwise.closing.cursor.needEnd()
  return { ...shape, otherwise: otherwise.body }
}

const parseTarget = (cursor: TokenCursor): Target => {
  const following = cursor.following()
  if (cursor.current().kind === 'name' && following.kind === 'operator' && following.text === '.') {
    const object = cursor.needIdentifier('a name')
    cursor.advance()
    return { kind: 'attribute', object, attribute: cursor.needIdentifier('an attribute name') }
  }
  return { kind: 'names', names: parseNames(cursor) }
}

const parseFilterChain = (cursor: TokenCursor): Expression => {
  let value: Expression = cursor.node(cursor.current().offset, { kind: 'captured' }, [])
  do value = parseFilter(cursor, value, parseExpression)
  while (cursor.takeOperator('|'))
  cursor.needEnd()
  return value
}

/** `a, b` without parentheses is a list, as on the right side of an assignment. */
const parseValues = (cursor: TokenCursor): Expression => {
  const first = parseExpression(cursor)
  if (!cursor.isOperator(',')) {
    cursor.needEnd()
    return first
  }
  const items = [first]
  while (cursor.takeOperator(',')) items.push(parseExpression(cursor))
  cursor.needEnd()
  return cursor.node(first.offset, { kind: 'list', items }, items)
}

const parseSet: ParseStatement = (cursor, offset, reader, inLoop) => {
  const target = parseTarget(cursor)
  if (cursor.takeOperator('=')) {
    return { kind: 'set', offset, target, value: parseValues(cursor), body: undefined }
  }
  if (target.kind === 'names' && target.names.length > 1) cursor.fail("expected '='")
  const captured = cursor.node(offset, { kind: 'captured' }, [])
  const value = cursor.takeOperator('|') ? parseFilterChain(cursor) : captured
  if (value === captured && cursor.current().kind !== 'end')
    cursor.fail("expected '=' or the end of the statement")
  const { body, closing } = reader.block('set', offset, ['endset'], inLoop)
  closing.cursor.needEnd()
  return { kind: 'set', offset, target, value, body }
}

const parseWith: ParseStatement = (cursor, offset, reader, inLoop) => {
  const bindings: { name: string; value: Expression }[] = []
  while (cursor.current().kind !== 'end') {
    const name = cursor.needIdentifier('a name')
    cursor.needOperator('=')
    bindings.push({ name, value: parseExpression(cursor) })
    if (!cursor.takeOperator(',')) break
  }
  cursor.needEnd()
  const { body, closing } = reader.block('with', offset, ['endwith'], inLoop)
  closing.cursor.needEnd()
  return { kind: 'with', bindings, body }
}

const parseFilterBlock: ParseStatement = (cursor, offset, reader, inLoop) => {
  const value = parseFilterChain(cursor)
  const { body, closing } = reader.block('filter', offset, ['endfilter'], inLoop)
  closing.cursor.needEnd()
  return { kind: 'filter', value, body }
}

const parseJump =
  (kind: 'break' | 'continue'): ParseStatement =>
  (cursor, offset, _reader, inLoop) => {
    if (!inLoop) cursor.fail(`'${kind}' outside of a for loop`, offset)
    cursor.needEnd()
    return { kind }
  }

const STATEMENTS: ReadonlyMap<string, ParseStatement> = new Map([
  ['if', parseIf],
  ['for', parseFor],
  ['set', parseSet],
  ['with', parseWith],
  ['filter', parseFilterBlock],
  ['do', (cursor) => ({ kind: 'do', expression: parseWholeExpression(cursor) })],
  ['break', parseJump('break')],
  ['continue', parseJump('continue')],
])

const complainAboutWord = (cursor: TokenCursor, word: string, offset: number): never => {
  if (CLOSING.has(word)) return cursor.fail(`unexpected '${word}'`, offset)
  if (NO_STATEMENTS_FOR.has(word)) return cursor.fail(`statement '${word}' is not available`, offset)
  const known = [...STATEMENTS.keys(), ...CLOSING, 'raw']
  return cursor.fail(`unknown statement '${word}'${hint(word, known)}`, offset)
}

export const parseTemplate = (source: string, segments: readonly Segment[]): Body => {
  let index = 0
  let depth = 0

  const statement = (cursor: TokenCursor, word: string, offset: number, inLoop: boolean): Node => {
    const parse = STATEMENTS.get(word)
    return parse === undefined
      ? complainAboutWord(cursor, word, offset)
      : parse(cursor, offset, reader, inLoop)
  }

  const until = (
    closings: readonly string[],
    inLoop: boolean,
  ): { body: Body; closing: Closing | undefined } => {
    const nodes: Node[] = []
    let size = 0
    while (index < segments.length) {
      const segment = segments[index]
      index += 1
      if (segment === undefined) break
      if (segment.kind === 'text') {
        nodes.push(segment)
        size += 1
        continue
      }
      size += segment.tokens.length
      const cursor = createTokenCursor(source, segment.tokens)
      if (segment.kind === 'output') {
        nodes.push({ kind: 'output', expression: parseWholeExpression(cursor) })
        continue
      }
      const offset = cursor.current().offset
      const word = cursor.needIdentifier('a statement')
      if (closings.includes(word)) return { body: { nodes, size }, closing: { word, cursor } }
      const node = statement(cursor, word, offset, inLoop)
      if ('body' in node && node.body !== undefined) size += node.body.size
      if (node.kind === 'if') for (const branch of node.branches) size += branch.body.size
      nodes.push(node)
    }
    return { body: { nodes, size }, closing: undefined }
  }

  const reader: Reader = {
    block: (opened, offset, closings, inLoop) => {
      depth += 1
      if (depth > MAX_SOURCE_DEPTH) {
        throw new TemplateSyntaxError(
          `statements are nested deeper than ${MAX_SOURCE_DEPTH} levels`,
          source,
          offset,
        )
      }
      const { body, closing } = until(closings, inLoop)
      depth -= 1
      if (closing === undefined) {
        throw new TemplateSyntaxError(
          `'${opened}' is never closed, expected '${closings.at(-1)}'`,
          source,
          offset,
        )
      }
      return { body, closing }
    },
  }

  return until([], false).body
}
