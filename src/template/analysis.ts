/**
 * What a template reads, found without running it.
 *
 * 1. A root is a name that can reach the scope: it is read at a place where the template has not bound it for certain.
 * 2. A path is a root with the members that follow it, as far as they are written out; a position, a computed key, a
 *    method or a filter ends it.
 * 3. Reading too much is allowed, reading too little is not.
 */
import {
  dispatchExpression,
  dispatchNode,
  type Arguments,
  type Body,
  type ByExpression,
  type ByNode,
  type Expression,
  type NodeOf,
} from './syntax-tree.ts'

export interface Reads {
  readonly roots: ReadonlySet<string>
  readonly paths: readonly (readonly string[])[]
  /** Every name that the template binds somewhere. */
  readonly bound: ReadonlySet<string>
}

interface Finding {
  readonly paths: Map<string, readonly string[]>
  readonly bound: Set<string>
}

type Known = ReadonlySet<string>

/** The path that an expression is, when it is nothing but a path. */
const pathOf = (expression: Expression): readonly string[] | undefined => {
  if (expression.kind === 'name') return [expression.name]
  if (expression.kind !== 'member') return undefined
  const path = pathOf(expression.object)
  return path === undefined ? undefined : [...path, expression.key]
}

const argumentParts = (args: Arguments): Expression[] => [
  ...args.positional,
  ...args.named.map((one) => one.value),
]

const PARTS: ByExpression<undefined, readonly (Expression | undefined)[]> = {
  literal: () => [],
  name: () => [],
  captured: () => [],
  member: (_, node) => [node.object],
  item: (_, node) => [node.object, node.key],
  slice: (_, node) => [node.object, node.start, node.stop, node.step],
  method: (_, node) => [node.object, ...argumentParts(node.args)],
  call: (_, node) => argumentParts(node.args),
  filter: (_, node) => [node.input, ...argumentParts(node.args)],
  test: (_, node) => [node.input, ...argumentParts(node.args)],
  not: (_, node) => [node.operand],
  sign: (_, node) => [node.operand],
  arithmetic: (_, node) => [node.left, node.right],
  and: (_, node) => node.operands,
  or: (_, node) => node.operands,
  concatenation: (_, node) => node.operands,
  comparison: (_, node) => [node.first, ...node.rest.map((one) => one.operand)],
  conditional: (_, node) => [node.condition, node.whenTrue, node.whenFalse],
  list: (_, node) => node.items,
  mapping: (_, node) => node.entries.flat(),
}

const readExpression = (finding: Finding, known: Known, expression: Expression | undefined): void => {
  if (expression === undefined) return
  const path = pathOf(expression)
  if (path === undefined) {
    for (const part of dispatchExpression(PARTS, undefined, expression)) readExpression(finding, known, part)
  } else if (!known.has(path[0] ?? '')) {
    finding.paths.set(JSON.stringify(path), path)
  }
}

const common = (sets: readonly Known[]): Set<string> => {
  const [first = new Set<string>(), ...others] = sets
  return new Set([...first].filter((name) => others.every((other) => other.has(name))))
}

const readIf = (finding: Finding, known: Known, node: NodeOf<'if'>): Known => {
  const afterBranches = node.branches.map(({ condition, body }) => {
    readExpression(finding, known, condition)
    return readBody(finding, known, body)
  })
  const isExhaustive = node.branches.some((branch) => branch.condition === undefined)
  return common(isExhaustive ? afterBranches : [...afterBranches, known])
}

const readFor = (finding: Finding, known: Known, node: NodeOf<'for'>): Known => {
  readExpression(finding, known, node.iterable)
  for (const name of [...node.names, 'loop']) finding.bound.add(name)
  readExpression(finding, new Set([...known, ...node.names]), node.condition)
  readBody(finding, new Set([...known, ...node.names, 'loop']), node.body)
  if (node.otherwise !== undefined) readBody(finding, known, node.otherwise)
  return known
}

const readSet = (finding: Finding, known: Known, node: NodeOf<'set'>): Known => {
  if (node.body !== undefined) readBody(finding, known, node.body)
  readExpression(finding, known, node.value)
  if (node.target.kind === 'attribute') return known
  for (const name of node.target.names) finding.bound.add(name)
  return new Set([...known, ...node.target.names])
}

const readWith = (finding: Finding, known: Known, node: NodeOf<'with'>): Known => {
  let inside = known
  for (const { name, value } of node.bindings) {
    readExpression(finding, inside, value)
    finding.bound.add(name)
    inside = new Set([...inside, name])
  }
  readBody(finding, inside, node.body)
  return known
}

interface Reading {
  readonly finding: Finding
  readonly known: Known
}

/** Each answers the names that are known after the statement. */
const BY_NODE: ByNode<Reading, Known> = {
  text: ({ known }) => known,
  break: ({ known }) => known,
  continue: ({ known }) => known,
  output: ({ finding, known }, node) => {
    readExpression(finding, known, node.expression)
    return known
  },
  do: ({ finding, known }, node) => {
    readExpression(finding, known, node.expression)
    return known
  },
  if: ({ finding, known }, node) => readIf(finding, known, node),
  for: ({ finding, known }, node) => readFor(finding, known, node),
  set: ({ finding, known }, node) => readSet(finding, known, node),
  with: ({ finding, known }, node) => readWith(finding, known, node),
  filter: ({ finding, known }, node) => {
    readBody(finding, known, node.body)
    readExpression(finding, known, node.value)
    return known
  },
}

const readBody = (finding: Finding, known: Known, body: Body): Known => {
  let current = known
  for (const node of body.nodes) current = dispatchNode(BY_NODE, { finding, known: current }, node)
  return current
}

export const readsOf = (body: Body): Reads => {
  const finding: Finding = { paths: new Map(), bound: new Set() }
  readBody(finding, new Set(), body)
  const paths = [...finding.paths.values()]
  return { roots: new Set(paths.map((path) => path[0] ?? '')), paths, bound: finding.bound }
}

const PASSING_FILTERS: ReadonlySet<string> = new Set(['default', 'd', 'first', 'last', 'get', 'attr', 'safe'])

/** Kinds that answer a scalar, or a container straight from the scope. */
const NEVER_BUILDS: ReadonlySet<Expression['kind']> = new Set([
  'literal',
  'name',
  'captured',
  'comparison',
  'not',
  'test',
  'concatenation',
  'sign',
])

/**
 * Whether the expression may answer a container that it built itself, and not one that it found in the scope.
 * Only a built one can contain what is not JSON.
 */
export const mayBuild = (expression: Expression | undefined): boolean => {
  if (expression === undefined || NEVER_BUILDS.has(expression.kind)) return false
  if (expression.kind === 'member' || expression.kind === 'item') return mayBuild(expression.object)
  if (expression.kind === 'and' || expression.kind === 'or') return expression.operands.some(mayBuild)
  if (expression.kind === 'conditional')
    return mayBuild(expression.whenTrue) || mayBuild(expression.whenFalse)
  if (expression.kind === 'filter' && PASSING_FILTERS.has(expression.name)) {
    return mayBuild(expression.input) || argumentParts(expression.args).some(mayBuild)
  }
  return true
}
