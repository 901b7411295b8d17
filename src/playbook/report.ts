/**
 * Collects what the parser has to say. Parsing never stops at the first problem: every part reports here and
 * goes on with a harmless stand-in, so one run shows all problems.
 *
 * 1. The same problem at the same place is kept once (a shared anchor or workbook tool is read several times).
 * 2. The sorted list has errors before warnings, each in the order found; a refused `case` comes before all.
 */
import type { Diagnostic } from './problem.ts'

/** Where something is: an offset into the text for machines, a path and an owner for people. */
export interface At {
  readonly offset: number
  /** `workflow[2].next.arcs[0].when` */
  readonly path: string
  /** `Step 'fetch'`; empty for the document itself. */
  readonly owner: string
}

export interface Report {
  error(code: string, at: At, message: string): void
  warn(code: string, at: At, message: string): void
  hasErrors(): boolean
  sorted(): readonly Diagnostic[]
}

export const createReport = (text: string): Report => {
  const lineStarts = lineStartsOf(text)
  const found = new Map<string, Diagnostic>()

  const add = (severity: Diagnostic['severity'], code: string, at: At, message: string): void => {
    const key = `${severity} ${code} ${at.offset} ${message}`
    if (found.has(key)) return
    const offset = Math.min(Math.max(at.offset, 0), text.length)
    const line = lineAt(lineStarts, offset)
    const column = offset - (lineStarts[line - 1] ?? 0) + 1
    const full = at.owner === '' ? capitalised(message) : `${at.owner}: ${message}`
    found.set(key, { severity, code, message: full, line, column, path: at.path })
  }

  return {
    error: (code, at, message) => add('error', code, at, message),
    warn: (code, at, message) => add('warning', code, at, message),
    hasErrors: () => [...found.values()].some((diagnostic) => diagnostic.severity === 'error'),
    sorted: () => [...found.values()].sort((left, right) => rank(left) - rank(right)),
  }
}

/** Messages are written to follow an owner; without one they start the sentence. */
const capitalised = (message: string): string => message.slice(0, 1).toUpperCase() + message.slice(1)

const rank = (diagnostic: Diagnostic): number => {
  if (diagnostic.code === 'CASE_NOT_ALLOWED') return 0
  return diagnostic.severity === 'error' ? 1 : 2
}

const lineStartsOf = (text: string): readonly number[] => {
  const starts = [0]
  for (let index = text.indexOf('\n'); index !== -1; index = text.indexOf('\n', index + 1))
    starts.push(index + 1)
  return starts
}

/** 1-based number of the last line that starts at or before the offset. */
const lineAt = (starts: readonly number[], offset: number): number => {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low + 1
}
