/** Comparisons to closures; `a < b < c` asks for both and evaluates `b` once. */
import type { Compilation } from './compile-call.ts'
import { compareValues, contains, isEqual } from './compare.ts'
import type { Evaluate, Frame } from './frame.ts'
import type { ComparisonOperator, Expression } from './syntax-tree.ts'
import type { Value } from './values.ts'

type Compare = (frame: Frame, left: Value, right: Value) => boolean

const COMPARE: Readonly<Record<ComparisonOperator, Compare>> = {
  '==': isEqual,
  '!=': (frame, left, right) => !isEqual(frame, left, right),
  '<': (frame, left, right) => compareValues(frame, left, right) < 0,
  '<=': (frame, left, right) => compareValues(frame, left, right) <= 0,
  '>': (frame, left, right) => compareValues(frame, left, right) > 0,
  '>=': (frame, left, right) => compareValues(frame, left, right) >= 0,
  in: (frame, left, right) => contains(frame, right, left),
  'not in': (frame, left, right) => !contains(frame, right, left),
}

export const compileComparison = (
  compilation: Compilation,
  node: Extract<Expression, { kind: 'comparison' }>,
  compile: (compilation: Compilation, expression: Expression) => Evaluate,
): Evaluate => {
  const first = compile(compilation, node.first)
  const rest = node.rest.map(({ operator, operand, offset }) => ({
    compare: COMPARE[operator],
    operand: compile(compilation, operand),
    offset,
  }))
  const only = rest.length === 1 ? rest[0] : undefined
  if (only !== undefined) {
    const { compare, operand, offset } = only
    return (frame) => {
      const left = first(frame)
      const right = operand(frame)
      frame.at = offset
      return compare(frame, left, right)
    }
  }
  return (frame) => {
    let left = first(frame)
    for (const { compare, operand, offset } of rest) {
      const right = operand(frame)
      frame.at = offset
      if (!compare(frame, left, right)) return false
      left = right
    }
    return true
  }
}
