/**
 * What can go wrong with a template, and where.
 *
 * 1. A template that cannot be compiled throws TemplateSyntaxError; its place is relative to the template text, so
 *    that a caller can add the place of the text inside a larger document.
 * 2. A compiled template that cannot be evaluated throws TemplateError; its message names the expression and place.
 * 3. EvaluationFault never leaves this folder: evaluation throws it without a place, rendering adds the place.
 */

export interface Place {
  /** 1-based. */
  readonly line: number
  /** 1-based, in UTF-16 units. */
  readonly column: number
}

export const placeOf = (source: string, offset: number): Place => {
  let line = 1
  let lineStart = 0
  for (;;) {
    const lineEnd = source.indexOf('\n', lineStart)
    if (lineEnd === -1 || lineEnd >= offset) return { line, column: offset - lineStart + 1 }
    line += 1
    lineStart = lineEnd + 1
  }
}

export class TemplateSyntaxError extends Error {
  readonly line: number
  readonly column: number
  /** 0-based, in UTF-16 units. */
  readonly offset: number

  constructor(message: string, source: string, offset: number) {
    super(message)
    this.name = 'TemplateSyntaxError'
    const place = placeOf(source, offset)
    this.line = place.line
    this.column = place.column
    this.offset = offset
  }
}

export interface Failure {
  readonly reason: string
  readonly source: string
  readonly offset: number
  /** The part of the source that was being evaluated. */
  readonly expression: string
  readonly cause?: unknown
}

const EXPRESSION_SHOWN = 120

const shorten = (text: string): string =>
  text.length <= EXPRESSION_SHOWN ? text : `${text.slice(0, EXPRESSION_SHOWN)}...`

export class TemplateError extends Error {
  /** The bare reason, without expression and place. */
  readonly reason: string
  readonly expression: string
  readonly line: number
  readonly column: number
  readonly offset: number

  constructor(failure: Failure) {
    const place = placeOf(failure.source, failure.offset)
    super(
      `${failure.reason} in ${shorten(failure.expression)} (line ${place.line}, column ${place.column})`,
      failure.cause === undefined ? undefined : { cause: failure.cause },
    )
    this.name = 'TemplateError'
    this.reason = failure.reason
    this.expression = failure.expression
    this.line = place.line
    this.column = place.column
    this.offset = failure.offset
  }
}

/** Evaluation went wrong at a place that only the renderer knows. */
export class EvaluationFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EvaluationFault'
  }
}

export const fault = (message: string): never => {
  throw new EvaluationFault(message)
}
