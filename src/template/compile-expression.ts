/**
 * Expression tree to closures. Each closure does one thing; the operation that can fail first notes its place in the
 * frame, so that errors name it without any cost to the others.
 */
import { compileComparison } from './compile-comparison.ts'
import { compileCall, compileMethod, type Compilation } from './compile-call.ts'
import { findLocal, type Evaluate } from './frame.ts'
import { reserveText } from './limits.ts'
import { applySign, arithmetic } from './operators.ts'
import { sliceOf } from './sequences.ts'
import { dispatchExpression, type ByExpression, type Expression, type ExpressionOf } from './syntax-tree.ts'
import { textOf } from './text-form.ts'
import { isTrue, item, member, setMember, type Value } from './values.ts'

const compileName = (compilation: Compilation, name: string): Evaluate => {
  const fromScope: Evaluate = (frame) => {
    const found = frame.scope.lookup(name)
    return typeof found === 'function' ? undefined : found
  }
  if (!compilation.bound.has(name)) return fromScope
  return (frame) => {
    const locals = findLocal(frame, name)
    return locals === undefined ? fromScope(frame) : locals.names.get(name)
  }
}

const compileLogic = (compilation: Compilation, node: ExpressionOf<'and' | 'or'>): Evaluate => {
  const operands = node.operands.map((operand) => compileExpression(compilation, operand))
  const first = operands[0]
  const rest = operands.slice(1)
  if (first === undefined) return () => undefined
  // The operand that decides is the result, not its truth.
  const decides = node.kind === 'or'
  return (frame) => {
    let value = first(frame)
    for (const operand of rest) {
      if (isTrue(value) === decides) return value
      value = operand(frame)
    }
    return value
  }
}

const compileConcatenation = (compilation: Compilation, node: ExpressionOf<'concatenation'>): Evaluate => {
  const operands = node.operands.map((operand) => compileExpression(compilation, operand))
  return (frame) => {
    let joined = ''
    for (const operand of operands) {
      const part = textOf(frame, operand(frame))
      frame.at = node.offset
      reserveText(frame, joined.length + part.length)
      joined += part
    }
    return joined
  }
}

const compileSlice = (compilation: Compilation, node: ExpressionOf<'slice'>): Evaluate => {
  const object = compileExpression(compilation, node.object)
  const [start, stop, step] = [node.start, node.stop, node.step].map((part) =>
    part === undefined ? undefined : compileExpression(compilation, part),
  )
  return (frame) => {
    const value = object(frame)
    const from = start?.(frame)
    const to = stop?.(frame)
    const by = step?.(frame)
    frame.at = node.offset
    return sliceOf(frame, value, from, to, by)
  }
}

const compileArithmetic = (compilation: Compilation, node: ExpressionOf<'arithmetic'>): Evaluate => {
  const { operator, offset } = node
  const left = compileExpression(compilation, node.left)
  const right = compileExpression(compilation, node.right)
  return (frame) => {
    const one = left(frame)
    const other = right(frame)
    frame.at = offset
    return arithmetic(frame, operator, one, other)
  }
}

const compileConditional = (compilation: Compilation, node: ExpressionOf<'conditional'>): Evaluate => {
  const condition = compileExpression(compilation, node.condition)
  const whenTrue = compileExpression(compilation, node.whenTrue)
  const whenFalse =
    node.whenFalse === undefined ? () => undefined : compileExpression(compilation, node.whenFalse)
  return (frame) => (isTrue(condition(frame)) ? whenTrue(frame) : whenFalse(frame))
}

const compileMapping = (compilation: Compilation, node: ExpressionOf<'mapping'>): Evaluate => {
  const entries = node.entries.map(
    ([key, value]) => [compileExpression(compilation, key), compileExpression(compilation, value)] as const,
  )
  return (frame) => {
    const mapping: Record<string, Value> = {}
    for (const [key, value] of entries) setMember(mapping, textOf(frame, key(frame)), value(frame))
    return mapping
  }
}

const compileItem = (compilation: Compilation, node: ExpressionOf<'item'>): Evaluate => {
  const object = compileExpression(compilation, node.object)
  const key = compileExpression(compilation, node.key)
  return (frame) => item(object(frame), key(frame))
}

const compileSign = (compilation: Compilation, node: ExpressionOf<'sign'>): Evaluate => {
  const { operator, offset } = node
  const operand = compileExpression(compilation, node.operand)
  return (frame) => {
    const value = operand(frame)
    frame.at = offset
    return applySign(operator, value)
  }
}

const compileFilterOrTest = (compilation: Compilation, node: ExpressionOf<'filter' | 'test'>): Evaluate => {
  const input = compileExpression(compilation, node.input)
  const invoke = compileCall(compilation, node.kind, node, compileExpression)
  return (frame) => invoke(frame, input(frame))
}

const BY_KIND: ByExpression<Compilation, Evaluate> = {
  literal:
    (_compilation, { value }) =>
    () =>
      value,
  name: (compilation, { name }) => compileName(compilation, name),
  captured: () => (frame) => frame.captured,
  member: (compilation, { object: owner, key }) => {
    const object = compileExpression(compilation, owner)
    return (frame) => member(object(frame), key)
  },
  item: compileItem,
  slice: compileSlice,
  method: (compilation, node) => {
    const object = compileExpression(compilation, node.object)
    const invoke = compileMethod(compilation, node, compileExpression)
    return (frame) => invoke(frame, object(frame))
  },
  call: (compilation, node) => {
    const invoke = compileCall(compilation, 'function', node, compileExpression)
    return (frame) => invoke(frame, undefined)
  },
  filter: compileFilterOrTest,
  test: compileFilterOrTest,
  not: (compilation, node) => {
    const operand = compileExpression(compilation, node.operand)
    return (frame) => !isTrue(operand(frame))
  },
  sign: compileSign,
  arithmetic: compileArithmetic,
  and: compileLogic,
  or: compileLogic,
  concatenation: compileConcatenation,
  comparison: (compilation, node) => compileComparison(compilation, node, compileExpression),
  conditional: compileConditional,
  list: (compilation, node) => {
    const items = node.items.map((one) => compileExpression(compilation, one))
    return (frame) => items.map((evaluate) => evaluate(frame))
  },
  mapping: compileMapping,
}

export const compileExpression = (compilation: Compilation, node: Expression): Evaluate =>
  dispatchExpression(BY_KIND, compilation, node)
