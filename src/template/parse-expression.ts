/**
 * Words to expression tree. From loose to tight binding:
 * `a if b else c`, `or`, `and`, `not`, comparisons and `in`, `+ -`, `~`, `* / // %`, `**`, sign, filters and tests,
 * members. Binary operators of one level group to the left.
 */
import { hint } from './suggest.ts'
import { shown, type TokenCursor } from './token-cursor.ts'
import { parsePostfix, parseFiltersAndTests } from './parse-postfix.ts'
import type { ArithmeticOperator, Comparison, ComparisonOperator, Expression } from './syntax-tree.ts'

export const parseExpression = (cursor: TokenCursor): Expression =>
  cursor.nested(() => {
    const value = parseOr(cursor)
    if (!cursor.isName('if')) return value
    const offset = cursor.advance().offset
    const condition = parseOr(cursor)
    const whenFalse = cursor.takeName('else') ? parseExpression(cursor) : undefined
    const shape = { kind: 'conditional', condition, whenTrue: value, whenFalse } as const
    return cursor.node(offset, shape, [value, condition, whenFalse])
  })

/** An expression that ends before `if`, as after `in` of a for statement. */
export const parseOr = (cursor: TokenCursor): Expression =>
  parseJoined(cursor, 'or', () => cursor.takeName('or'), parseAnd)

const parseAnd = (cursor: TokenCursor): Expression =>
  parseJoined(cursor, 'and', () => cursor.takeName('and'), parseNot)

const parseJoined = (
  cursor: TokenCursor,
  kind: 'and' | 'or' | 'concatenation',
  takeJoint: () => boolean,
  parseOperand: (cursor: TokenCursor) => Expression,
): Expression => {
  const first = parseOperand(cursor)
  const operands = [first]
  while (takeJoint()) operands.push(parseOperand(cursor))
  return operands.length === 1 ? first : cursor.node(first.offset, { kind, operands }, operands)
}

const parseNot = (cursor: TokenCursor): Expression => {
  if (!cursor.isName('not')) return parseComparison(cursor)
  const offset = cursor.advance().offset
  const operand = cursor.nested(() => parseNot(cursor))
  return cursor.node(offset, { kind: 'not', operand }, [operand])
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])

const takeComparison = (cursor: TokenCursor): ComparisonOperator | undefined => {
  const token = cursor.current()
  if (token.kind === 'operator' && COMPARISONS.has(token.text)) {
    cursor.advance()
    return token.text as ComparisonOperator
  }
  if (cursor.takeName('in')) return 'in'
  const following = cursor.following()
  if (cursor.isName('not') && following.kind === 'name' && following.text === 'in') {
    cursor.advance()
    cursor.advance()
    return 'not in'
  }
  return undefined
}

const parseComparison = (cursor: TokenCursor): Expression => {
  const first = parseSum(cursor)
  const rest: Comparison[] = []
  for (;;) {
    const offset = cursor.current().offset
    const operator = takeComparison(cursor)
    if (operator === undefined) break
    rest.push({ operator, operand: parseSum(cursor), offset })
  }
  if (rest.length === 0) return first
  return cursor.node(first.offset, { kind: 'comparison', first, rest }, [
    first,
    ...rest.map((one) => one.operand),
  ])
}

const parseArithmetic = (
  cursor: TokenCursor,
  operators: readonly ArithmeticOperator[],
  parseOperand: (cursor: TokenCursor) => Expression,
): Expression => {
  let left = parseOperand(cursor)
  for (;;) {
    const token = cursor.current()
    const operator = token.kind === 'operator' ? operators.find((one) => one === token.text) : undefined
    if (operator === undefined) return left
    cursor.advance()
    const right = parseOperand(cursor)
    left = cursor.node(token.offset, { kind: 'arithmetic', operator, left, right }, [left, right])
  }
}

const parseSum = (cursor: TokenCursor): Expression => parseArithmetic(cursor, ['+', '-'], parseConcatenation)

const parseConcatenation = (cursor: TokenCursor): Expression =>
  parseJoined(cursor, 'concatenation', () => cursor.takeOperator('~'), parseProduct)

const parseProduct = (cursor: TokenCursor): Expression =>
  parseArithmetic(cursor, ['*', '/', '//', '%'], parsePower)

const parsePower = (cursor: TokenCursor): Expression => parseArithmetic(cursor, ['**'], parseFiltered)

const parseFiltered = (cursor: TokenCursor): Expression =>
  parseFiltersAndTests(cursor, parseSigned(cursor), parseExpression, parseOperand)

const parseSigned = (cursor: TokenCursor): Expression => {
  const operator = cursor.isOperator('-') ? '-' : cursor.isOperator('+') ? '+' : undefined
  if (operator === undefined) return parseOperand(cursor)
  const offset = cursor.advance().offset
  const operand = cursor.nested(() => parseSigned(cursor))
  return cursor.node(offset, { kind: 'sign', operator, operand }, [operand])
}

/** A value with its members, items, slices and calls. */
const parseOperand = (cursor: TokenCursor): Expression =>
  parsePostfix(cursor, parsePrimary(cursor), parseExpression)

const CONSTANTS: Readonly<Record<string, boolean | null>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  null: null,
}

const RESERVED: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else'])

const parsePrimary = (cursor: TokenCursor): Expression => {
  const token = cursor.current()
  const offset = token.offset
  if (token.kind === 'number') {
    cursor.advance()
    return cursor.node(offset, { kind: 'literal', value: token.value }, [])
  }
  if (token.kind === 'text') return cursor.node(offset, { kind: 'literal', value: takeTexts(cursor) }, [])
  if (token.kind === 'name') return parseName(cursor)
  if (cursor.takeOperator('(')) return parseParenthesis(cursor, offset)
  if (cursor.takeOperator('[')) {
    const items = parseUntil(cursor, ']', () => parseExpression(cursor))
    return cursor.node(offset, { kind: 'list', items }, items)
  }
  if (cursor.takeOperator('{')) return parseMapping(cursor, offset)
  return cursor.fail(`expected a value, found ${shown(token)}`)
}

const parseName = (cursor: TokenCursor): Expression => {
  const { text, offset } = cursor.current()
  if (RESERVED.has(text)) return cursor.fail(`expected a value, found '${text}'`)
  cursor.advance()
  if (Object.hasOwn(CONSTANTS, text)) {
    return cursor.node(offset, { kind: 'literal', value: CONSTANTS[text] }, [])
  }
  return cursor.node(offset, { kind: 'name', name: text }, [])
}

/** Texts that stand side by side are one text. */
const takeTexts = (cursor: TokenCursor): string => {
  let joined = ''
  for (;;) {
    const token = cursor.current()
    if (token.kind !== 'text') return joined
    joined += token.value
    cursor.advance()
  }
}

const parseUntil = <Item>(cursor: TokenCursor, closing: string, parseItem: () => Item): Item[] => {
  const items: Item[] = []
  while (!cursor.takeOperator(closing)) {
    items.push(parseItem())
    if (!cursor.takeOperator(',')) {
      cursor.needOperator(closing)
      break
    }
  }
  return items
}

/** A grouped expression, or a list when there is a comma: `(1, 2)`, `(1,)`, `()`. */
const parseParenthesis = (cursor: TokenCursor, offset: number): Expression => {
  if (cursor.takeOperator(')')) return cursor.node(offset, { kind: 'list', items: [] }, [])
  const first = parseExpression(cursor)
  if (!cursor.takeOperator(',')) {
    cursor.needOperator(')')
    return first
  }
  const items = [first, ...parseUntil(cursor, ')', () => parseExpression(cursor))]
  return cursor.node(offset, { kind: 'list', items }, items)
}

const parseMapping = (cursor: TokenCursor, offset: number): Expression => {
  const entries = parseUntil(cursor, '}', () => {
    const key = parseExpression(cursor)
    cursor.needOperator(':')
    return [key, parseExpression(cursor)] as const
  })
  return cursor.node(offset, { kind: 'mapping', entries }, entries.flat())
}

/** An expression and nothing after it. */
export const parseWholeExpression = (cursor: TokenCursor): Expression => {
  const first = parseExpression(cursor)
  const token = cursor.current()
  if (token.kind === 'name') {
    cursor.fail(
      `unexpected '${token.text}'${hint(token.text, ['and', 'or', 'is', 'in', 'if', 'else', 'not'])}`,
    )
  }
  cursor.needEnd()
  return first
}
