/** The shape of a parsed template. Every node knows where it stands in the source. */
import type { Value } from './values.ts'

export interface Arguments {
  readonly positional: readonly Expression[]
  readonly named: readonly { readonly name: string; readonly value: Expression; readonly offset: number }[]
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**'
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in'

export interface Comparison {
  readonly operator: ComparisonOperator
  readonly operand: Expression
  readonly offset: number
}

export type ExpressionShape =
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly object: Expression; readonly key: string }
  | { readonly kind: 'item'; readonly object: Expression; readonly key: Expression }
  | {
      readonly kind: 'slice'
      readonly object: Expression
      readonly start: Expression | undefined
      readonly stop: Expression | undefined
      readonly step: Expression | undefined
    }
  | { readonly kind: 'method'; readonly object: Expression; readonly name: string; readonly args: Arguments }
  | { readonly kind: 'call'; readonly name: string; readonly args: Arguments }
  | { readonly kind: 'filter'; readonly input: Expression; readonly name: string; readonly args: Arguments }
  | { readonly kind: 'test'; readonly input: Expression; readonly name: string; readonly args: Arguments }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'sign'; readonly operator: '-' | '+'; readonly operand: Expression }
  | {
      readonly kind: 'arithmetic'
      readonly operator: ArithmeticOperator
      readonly left: Expression
      readonly right: Expression
    }
  | { readonly kind: 'and'; readonly operands: readonly Expression[] }
  | { readonly kind: 'or'; readonly operands: readonly Expression[] }
  | { readonly kind: 'concatenation'; readonly operands: readonly Expression[] }
  | { readonly kind: 'comparison'; readonly first: Expression; readonly rest: readonly Comparison[] }
  | {
      readonly kind: 'conditional'
      readonly condition: Expression
      readonly whenTrue: Expression
      readonly whenFalse: Expression | undefined
    }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'mapping'; readonly entries: readonly (readonly [Expression, Expression])[] }
  /** The text that a filter block or a block assignment has captured. */
  | { readonly kind: 'captured' }

export type Expression = ExpressionShape & { readonly offset: number; readonly depth: number }

export type ExpressionOf<Kind extends Expression['kind']> = Extract<Expression, { readonly kind: Kind }>

/** What to do with each kind of expression; the compiler sees to it that none is forgotten. */
export type ByExpression<Context, Result> = {
  readonly [Kind in Expression['kind']]: (context: Context, node: ExpressionOf<Kind>) => Result
}

export const dispatchExpression = <Context, Result>(
  handlers: ByExpression<Context, Result>,
  context: Context,
  node: Expression,
): Result => (handlers[node.kind] as (context: Context, node: Expression) => Result)(context, node)

export type Target =
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'attribute'; readonly object: string; readonly attribute: string }

export interface Branch {
  /** undefined for `else` */
  readonly condition: Expression | undefined
  readonly body: Body
}

export interface Body {
  readonly nodes: readonly Node[]
  /** How many words the body has: what one pass through it costs. */
  readonly size: number
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly expression: Expression }
  | { readonly kind: 'if'; readonly branches: readonly Branch[] }
  | {
      readonly kind: 'for'
      readonly offset: number
      readonly names: readonly string[]
      readonly iterable: Expression
      readonly condition: Expression | undefined
      readonly body: Body
      readonly otherwise: Body | undefined
    }
  | {
      readonly kind: 'set'
      readonly offset: number
      readonly target: Target
      readonly value: Expression
      /** Present for the block form; then `value` reads what was captured. */
      readonly body: Body | undefined
    }
  | {
      readonly kind: 'with'
      readonly bindings: readonly { readonly name: string; readonly value: Expression }[]
      readonly body: Body
    }
  | { readonly kind: 'filter'; readonly value: Expression; readonly body: Body }
  | { readonly kind: 'do'; readonly expression: Expression }
  | { readonly kind: 'break' }
  | { readonly kind: 'continue' }

export type NodeOf<Kind extends Node['kind']> = Extract<Node, { readonly kind: Kind }>

/** What to do with each kind of statement. */
export type ByNode<Context, Result> = {
  readonly [Kind in Node['kind']]: (context: Context, node: NodeOf<Kind>) => Result
}

export const dispatchNode = <Context, Result>(
  handlers: ByNode<Context, Result>,
  context: Context,
  node: Node,
): Result => (handlers[node.kind] as (context: Context, node: Node) => Result)(context, node)
