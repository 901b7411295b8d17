/**
 * The state of one rendering: what it sees, what it has written, what it may still spend.
 */
import { FUEL, type Budget } from './limits.ts'
import type { Scope } from './scope.ts'
import type { Value } from './values.ts'

/** Names that the template itself has bound, innermost first. */
export interface Locals {
  readonly names: Map<string, Value>
  readonly outer: Locals | undefined
}

export interface Frame extends Budget {
  readonly scope: Scope
  locals: Locals | undefined
  /** Text written so far, to the output or to the block being captured. */
  text: string
  /** Offset of the operation under way, for the place of an error. */
  at: number
  /** What a filter block or a block assignment has captured. */
  captured: string
  /** Free root names of the template, for `debug()`. */
  readonly roots: ReadonlySet<string>
}

export const createFrame = (scope: Scope, roots: ReadonlySet<string>): Frame => ({
  fuel: FUEL,
  scope,
  locals: undefined,
  text: '',
  at: 0,
  captured: '',
  roots,
})

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value

export const bindLocal = (frame: Frame, name: string, value: Value): void => {
  frame.locals ??= { names: new Map(), outer: undefined }
  frame.locals.names.set(name, value)
}

/** Runs `body` with a scope of its own for the names it binds. */
export const withLocals = <Result>(frame: Frame, body: () => Result): Result => {
  const outer = frame.locals
  frame.locals = { names: new Map(), outer }
  try {
    return body()
  } finally {
    frame.locals = outer
  }
}

export const findLocal = (frame: Frame, name: string): Locals | undefined => {
  let locals = frame.locals
  while (locals !== undefined && !locals.names.has(name)) locals = locals.outer
  return locals
}

/** Runs `body` and answers what it wrote instead of writing it. */
export const capture = (frame: Frame, body: () => void): string => {
  const before = frame.text
  frame.text = ''
  try {
    body()
    return frame.text
  } finally {
    frame.text = before
  }
}
