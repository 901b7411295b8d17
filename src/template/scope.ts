/**
 * What a template can see. A scope is asked for root names one at a time, so rendering never copies or walks
 * the context: a 1 MB context costs nothing unless a template reaches into it.
 */
import type { Json } from '../contract/json.ts'

export interface Scope {
  /** The value of a root name; undefined means the name is not defined. */
  lookup(name: string): unknown
  /** ISO-8601 UTC text that `now()` answers. Without it `now()` is a template error. */
  readonly now?: string
  /** What `uuid4()` answers. Without it `uuid4()` is a template error. */
  readonly uuid?: () => string
}

export const VIEW: unique symbol = Symbol('view')

/**
 * A host value that answers member access itself, such as a step result with its `.data` convenience, or the
 * whole variable space behind `ctx`. Taken whole (printed, serialised, compared, passed on) it is `plain()`.
 */
export interface View {
  readonly [VIEW]: true
  /** The value when taken whole. Called only when needed. */
  plain(): Json
  /**
   * It stands for something that is not there. Tests, conditions and `default` take it for undefined; any other use
   * asks for `plain()`, which then may fail.
   */
  readonly absent?: true
  /** Member access by name; undefined when there is no such member. Without it, members of `plain()`. */
  get?(key: string): unknown
  /** When present, integer index, iteration, `length`, slices and sequence filters act on this list. */
  sequence?(): readonly Json[]
  /** When present, replaces `==`, `!=` and `in` comparison with this value on either side. */
  equals?(other: unknown): boolean
}

export const isView = (value: unknown): value is View =>
  typeof value === 'object' && value !== null && VIEW in value
