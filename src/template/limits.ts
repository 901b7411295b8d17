/**
 * What a template may cost. Playbooks come from many hands, so a template must not be able to stop a server.
 *
 * 1. Every amount of work that data or loops can multiply is charged to the fuel of the rendering before it is done.
 * 2. No text built on the way is longer than the output limit.
 * 3. Nesting is bounded at compile time (source) and at run time (data), far below the size of the stack.
 */
import { EvaluationFault } from './errors.ts'

export const FUEL = 1_000_000
/** In UTF-16 units, for the output and for any text on the way to it. */
export const MAX_TEXT = 16 * 1024 * 1024
/** Nesting of parentheses, brackets, operators and statements in a template. */
export const MAX_SOURCE_DEPTH = 200
/** Nesting of the expression tree, which also grows with long chains such as `a + b + c`. */
export const MAX_EXPRESSION_DEPTH = 500
/** Nesting of data that is compared, printed or copied. */
export const MAX_DATA_DEPTH = 500
/** Integers are exact up to this many bits. */
export const MAX_INTEGER_BITS = 4096

export interface Budget {
  fuel: number
}

export const charge = (budget: Budget, operations: number): void => {
  budget.fuel -= operations
  if (budget.fuel < 0) throw new EvaluationFault(`template needs more than ${FUEL} operations`)
}

/** Work on text is cheap per character: 256 characters count as one operation. */
export const chargeText = (budget: Budget, length: number): void => charge(budget, 1 + (length >> 8))

/** Searching can degenerate to the product of both lengths. */
export const chargeSearch = (budget: Budget, text: string, wanted: string): void => {
  const positions = Math.max(0, text.length - wanted.length)
  charge(budget, 1 + (text.length >> 8) + Math.floor((positions * wanted.length) / 65_536))
}

/** To be asked before a text of this length is built. */
export const reserveText = (budget: Budget, length: number): void => {
  if (length > MAX_TEXT) throw new EvaluationFault(`text is longer than ${MAX_TEXT} characters`)
  chargeText(budget, length)
}

export const checkDataDepth = (depth: number): void => {
  if (depth > MAX_DATA_DEPTH) throw new EvaluationFault(`data is nested deeper than ${MAX_DATA_DEPTH} levels`)
}
