/**
 * What can follow a value: members, items, slices, calls, filters and tests.
 *
 * 1. Only a plain name (function) or a member (method) can be called.
 * 2. A test may take one argument without parentheses: `x is divisibleby 3`.
 */
import type { Arguments, Expression } from './syntax-tree.ts'
import type { TokenCursor } from './token-cursor.ts'

type Parse = (cursor: TokenCursor) => Expression

const NO_ARGUMENTS: Arguments = { positional: [], named: [] }

const partsOf = (args: Arguments): Expression[] => [...args.positional, ...args.named.map((one) => one.value)]

/** After the opening parenthesis. */
const parseArguments = (cursor: TokenCursor, parseExpression: Parse): Arguments => {
  const positional: Expression[] = []
  const named: { name: string; value: Expression; offset: number }[] = []
  while (!cursor.takeOperator(')')) {
    const token = cursor.current()
    const following = cursor.following()
    if (token.kind === 'name' && following.kind === 'operator' && following.text === '=') {
      if (named.some((one) => one.name === token.text)) cursor.fail(`argument '${token.text}' is given twice`)
      cursor.advance()
      cursor.advance()
      named.push({ name: token.text, value: parseExpression(cursor), offset: token.offset })
    } else {
      if (named.length > 0) cursor.fail('an argument without a name cannot follow one with a name')
      positional.push(parseExpression(cursor))
    }
    if (!cursor.takeOperator(',')) {
      cursor.needOperator(')')
      break
    }
  }
  return { positional, named }
}

const parseCall = (cursor: TokenCursor, called: Expression, parseExpression: Parse): Expression => {
  const offset = called.offset
  const open = cursor.advance().offset
  const args = parseArguments(cursor, parseExpression)
  if (called.kind === 'name') {
    return cursor.node(offset, { kind: 'call', name: called.name, args }, partsOf(args))
  }
  if (called.kind === 'member') {
    const { object, key } = called
    return cursor.node(offset, { kind: 'method', object, name: key, args }, [object, ...partsOf(args)])
  }
  return cursor.fail('only functions and methods can be called', open)
}

const parseMember = (cursor: TokenCursor, object: Expression): Expression => {
  const token = cursor.current()
  if (token.kind === 'number') {
    cursor.advance()
    const key = cursor.node(token.offset, { kind: 'literal', value: token.value }, [])
    return cursor.node(token.offset, { kind: 'item', object, key }, [object])
  }
  const key = cursor.needIdentifier('a member name after the dot')
  return cursor.node(token.offset, { kind: 'member', object, key }, [object])
}

/** After the opening bracket. */
const parseItemOrSlice = (cursor: TokenCursor, object: Expression, parseExpression: Parse): Expression => {
  const offset = cursor.current().offset
  const parseBound = (): Expression | undefined =>
    cursor.isOperator(':') || cursor.isOperator(']') ? undefined : parseExpression(cursor)
  if (cursor.isOperator(']')) cursor.fail('expected a key or a position')
  const start = parseBound()
  if (start !== undefined && cursor.takeOperator(']')) {
    return start.kind === 'literal' && typeof start.value === 'string'
      ? cursor.node(offset, { kind: 'member', object, key: start.value }, [object])
      : cursor.node(offset, { kind: 'item', object, key: start }, [object, start])
  }
  cursor.needOperator(':')
  const stop = parseBound()
  const step = cursor.takeOperator(':') ? parseBound() : undefined
  cursor.needOperator(']')
  return cursor.node(offset, { kind: 'slice', object, start, stop, step }, [object, start, stop, step])
}

export const parsePostfix = (cursor: TokenCursor, value: Expression, parseExpression: Parse): Expression => {
  let current = value
  for (;;) {
    if (cursor.takeOperator('.')) current = parseMember(cursor, current)
    else if (cursor.takeOperator('[')) current = parseItemOrSlice(cursor, current, parseExpression)
    else if (cursor.isOperator('(')) current = parseCall(cursor, current, parseExpression)
    else return current
  }
}

/** After the `|`. */
export const parseFilter = (cursor: TokenCursor, input: Expression, parseExpression: Parse): Expression => {
  const offset = cursor.current().offset
  const name = cursor.needIdentifier('a filter name')
  const args = cursor.takeOperator('(') ? parseArguments(cursor, parseExpression) : NO_ARGUMENTS
  return cursor.node(offset, { kind: 'filter', input, name, args }, [input, ...partsOf(args)])
}

const NOT_AN_ARGUMENT: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'is', 'if', 'else'])

const startsArgument = (cursor: TokenCursor): boolean => {
  const token = cursor.current()
  if (token.kind === 'number' || token.kind === 'text') return true
  if (token.kind === 'name') return !NOT_AN_ARGUMENT.has(token.text)
  return token.kind === 'operator' && (token.text === '[' || token.text === '{')
}

/** After the `is`. */
const parseTest = (
  cursor: TokenCursor,
  input: Expression,
  parseExpression: Parse,
  parseOperand: Parse,
): Expression => {
  const negated = cursor.takeName('not')
  const offset = cursor.current().offset
  const name = cursor.needIdentifier('a test name')
  let args = NO_ARGUMENTS
  if (cursor.takeOperator('(')) args = parseArguments(cursor, parseExpression)
  else if (startsArgument(cursor)) args = { positional: [parseOperand(cursor)], named: [] }
  const test = cursor.node(offset, { kind: 'test', input, name, args }, [input, ...partsOf(args)])
  return negated ? cursor.node(offset, { kind: 'not', operand: test }, [test]) : test
}

export const parseFiltersAndTests = (
  cursor: TokenCursor,
  value: Expression,
  parseExpression: Parse,
  parseOperand: Parse,
): Expression => {
  let current = value
  for (;;) {
    if (cursor.takeOperator('|')) current = parseFilter(cursor, current, parseExpression)
    else if (cursor.takeName('is')) current = parseTest(cursor, current, parseExpression, parseOperand)
    else if (cursor.isOperator('(')) cursor.fail('only functions and methods can be called')
    else return current
  }
}
