/**
 * Splits SQL text into statements.
 *
 * 1. A semicolon ends a statement, except in quotes, comments, parentheses (as in rules) and between BEGIN and END of
 *    the body of a function or procedure.
 * 2. Statements without any code are left out; comments of others stay with them.
 */
import { sqlTokens } from './sql-tokens.ts'

/** Follows one statement and knows whether a semicolon would end it. */
const createTracker = (): { word(word: string): void; symbol(symbol: string): void; isWhole(): boolean } => {
  const firstWords: string[] = []
  let parentheses = 0
  let blocks = 0

  const definesRoutine = (): boolean => {
    const [first, second, third, fourth] = firstWords
    const kind = second === 'or' && third === 'replace' ? fourth : second
    return first === 'create' && (kind === 'function' || kind === 'procedure')
  }

  return {
    word(text) {
      const word = text.toLowerCase()
      if (firstWords.length < 4) firstWords.push(word)
      else if (definesRoutine()) {
        if (word === 'begin' || (blocks > 0 && word === 'case')) blocks += 1
        else if (word === 'end' && blocks > 0) blocks -= 1
      }
    },
    symbol(symbol) {
      if (symbol === '(') parentheses += 1
      else if (symbol === ')') parentheses = Math.max(0, parentheses - 1)
    },
    isWhole: () => parentheses === 0 && blocks === 0,
  }
}

export const splitStatements = (text: string): string[] => {
  const statements: string[] = []
  let tracker = createTracker()
  let from = 0
  let hasCode = false

  const finish = (end: number, next: number): void => {
    if (hasCode) statements.push(text.slice(from, end).trim())
    tracker = createTracker()
    from = next
    hasCode = false
  }

  for (const { kind, start, end } of sqlTokens(text)) {
    if (kind === 'space' || kind === 'comment') continue
    if (kind === 'symbol' && text[start] === ';' && tracker.isWhole()) {
      finish(start, end)
      continue
    }
    hasCode = true
    if (kind === 'word') tracker.word(text.slice(start, end))
    else if (kind === 'symbol') tracker.symbol(text[start] as string)
  }
  finish(text.length, text.length)
  return statements
}
