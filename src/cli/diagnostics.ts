/** What the parser says about a playbook, the way compilers show it: place, words, the line itself and a caret. */
import type { Diagnostic } from '../playbook/problem.ts'
import type { Style, Terminal } from './terminal.ts'

const LONGEST_LINE = 200

export const diagnosticLines = (
  file: string,
  text: string,
  diagnostics: readonly Diagnostic[],
  { errorStyle: style }: Pick<Terminal, 'errorStyle'>,
): readonly string[] => {
  const source = text.split(/\r\n|\r|\n/)
  return diagnostics.flatMap(({ severity, code, message, line, column }) => {
    const word = severity === 'error' ? style.red(style.bold('error')) : style.yellow('warning')
    const place = style.bold(`${file}:${line}:${column}:`)
    return [
      `${place} ${word} ${message} ${style.dim(`[${code}]`)}`,
      ...excerpt(source[line - 1], line, column, style),
    ]
  })
}

const excerpt = (
  source: string | undefined,
  line: number,
  column: number,
  style: Style,
): readonly string[] => {
  if (source === undefined || source.trim() === '') return []
  // A long line is shown from a little before the place.
  const from = column > LONGEST_LINE - 20 ? column - 60 : 0
  const shown = source.slice(from, from + LONGEST_LINE)
  const gutter = `  ${line} | `
  // Tabs before the place keep their width when the caret line repeats them.
  const indent = shown.slice(0, column - 1 - from).replaceAll(/[^\t]/g, ' ')
  return [
    `${style.dim(gutter)}${shown}`,
    `${style.dim(`${' '.repeat(gutter.length - 2)}| `)}${indent}${style.red('^')}`,
  ]
}

export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
