/**
 * Statements to closures that write to the frame.
 *
 * 1. A for body, a with body and each round have names of their own; an if body has not.
 * 2. Each round of a loop pays for the size of its body, so that no loop is free.
 */
import type { Compilation } from './compile-call.ts'
import { compileExpression } from './compile-expression.ts'
import { fault } from './errors.ts'
import { bindLocal, capture, findLocal, withLocals, type Evaluate, type Frame } from './frame.ts'
import { charge, MAX_TEXT } from './limits.ts'
import { createLoopState } from './loop-state.ts'
import { elementsOf } from './sequences.ts'
import { dispatchNode, type Body, type ByNode, type NodeOf, type Target } from './syntax-tree.ts'
import { textOf } from './text-form.ts'
import { asList, isMapping, isTrue, kindOf, NAMESPACE, setMember, type Value } from './values.ts'

/** What a statement asks of the loop around it. */
type Jump = 'break' | 'continue' | undefined
export type Run = (frame: Frame) => Jump

/** Words per operation when a round pays for its body. */
const WORDS_PER_OPERATION = 16

const write = (frame: Frame, text: string): void => {
  if (frame.text.length + text.length > MAX_TEXT) fault(`output is longer than ${MAX_TEXT} characters`)
  frame.text += text
}

const bindNames = (frame: Frame, names: readonly string[], value: Value): void => {
  const [only] = names
  if (names.length === 1 && only !== undefined) {
    bindLocal(frame, only, value)
    return
  }
  const parts = asList(value)
  if (parts === undefined) return fault(`cannot unpack a ${kindOf(value)} into ${names.length} names`)
  if (parts.length !== names.length) {
    return fault(`cannot unpack ${parts.length} values into ${names.length} names`)
  }
  for (const [index, name] of names.entries()) bindLocal(frame, name, parts[index])
}

const assign = (frame: Frame, target: Target, value: Value): void => {
  if (target.kind === 'names') return bindNames(frame, target.names, value)
  const object = findLocal(frame, target.object)?.names.get(target.object)
  if (!isMapping(object) || !(NAMESPACE in object)) return fault(`'${target.object}' is not a namespace`)
  setMember(object, target.attribute, value)
}

const compileOutput = (compilation: Compilation, node: NodeOf<'output'>): Run => {
  const evaluate = compileExpression(compilation, node.expression)
  const { offset } = node.expression
  return (frame) => {
    const value = evaluate(frame)
    frame.at = offset
    write(frame, textOf(frame, value))
    return undefined
  }
}

const compileIf = (compilation: Compilation, node: NodeOf<'if'>): Run => {
  const branches = node.branches.map(({ condition, body }) => ({
    condition: condition === undefined ? undefined : compileExpression(compilation, condition),
    run: compileBody(compilation, body),
  }))
  return (frame) => {
    for (const { condition, run } of branches) {
      if (condition === undefined || isTrue(condition(frame))) return run(frame)
    }
    return undefined
  }
}

const selectItems = (
  frame: Frame,
  items: readonly Value[],
  names: readonly string[],
  condition: Evaluate | undefined,
): readonly Value[] => {
  if (condition === undefined) return items
  return items.filter((item) => {
    charge(frame, 1)
    return withLocals(frame, () => {
      bindNames(frame, names, item)
      return isTrue(condition(frame))
    })
  })
}

const compileFor = (compilation: Compilation, node: NodeOf<'for'>): Run => {
  const { names, offset } = node
  const iterable = compileExpression(compilation, node.iterable)
  const condition = node.condition === undefined ? undefined : compileExpression(compilation, node.condition)
  const run = compileBody(compilation, node.body)
  const otherwise = node.otherwise === undefined ? undefined : compileBody(compilation, node.otherwise)
  const cost = 1 + node.body.size / WORDS_PER_OPERATION
  return (frame) => {
    const value = iterable(frame)
    frame.at = offset
    const items = selectItems(frame, elementsOf(frame, value), names, condition)
    if (items.length === 0) return otherwise?.(frame)
    const loop = createLoopState(items, 1)
    for (let index = 0; index < items.length; index += 1) {
      frame.at = offset
      charge(frame, cost)
      loop.index = index
      const jump = withLocals(frame, () => {
        bindLocal(frame, 'loop', loop)
        bindNames(frame, names, items[index])
        return run(frame)
      })
      if (jump === 'break') break
    }
    return undefined
  }
}

const compileSet = (compilation: Compilation, node: NodeOf<'set'>): Run => {
  const evaluate = compileExpression(compilation, node.value)
  const body = node.body === undefined ? undefined : compileBody(compilation, node.body)
  return (frame) => {
    if (body !== undefined) frame.captured = capture(frame, () => body(frame))
    const value = evaluate(frame)
    frame.at = node.offset
    assign(frame, node.target, value)
    return undefined
  }
}

const compileWith = (compilation: Compilation, node: NodeOf<'with'>): Run => {
  const bindings = node.bindings.map(
    ({ name, value }) => [name, compileExpression(compilation, value)] as const,
  )
  const run = compileBody(compilation, node.body)
  return (frame) =>
    withLocals(frame, () => {
      for (const [name, evaluate] of bindings) bindLocal(frame, name, evaluate(frame))
      return run(frame)
    })
}

const compileFilterBlock = (compilation: Compilation, node: NodeOf<'filter'>): Run => {
  const evaluate = compileExpression(compilation, node.value)
  const run = compileBody(compilation, node.body)
  return (frame) => {
    let jump: Jump
    frame.captured = capture(frame, () => {
      jump = run(frame)
    })
    write(frame, textOf(frame, evaluate(frame)))
    return jump
  }
}

const BY_KIND: ByNode<Compilation, Run> = {
  text:
    (_compilation, { text }) =>
    (frame) => {
      write(frame, text)
      return undefined
    },
  output: compileOutput,
  if: compileIf,
  for: compileFor,
  set: compileSet,
  with: compileWith,
  filter: compileFilterBlock,
  do: (compilation, node) => {
    const evaluate = compileExpression(compilation, node.expression)
    return (frame) => {
      evaluate(frame)
      return undefined
    }
  },
  break: () => () => 'break',
  continue: () => () => 'continue',
}

export const compileBody = (compilation: Compilation, body: Body): Run => {
  const runs = body.nodes.map((node) => dispatchNode(BY_KIND, compilation, node))
  const [only] = runs
  if (runs.length === 1 && only !== undefined) return only
  return (frame) => {
    for (const run of runs) {
      const jump = run(frame)
      if (jump !== undefined) return jump
    }
    return undefined
  }
}
