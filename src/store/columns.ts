/**
 * Many rows in few parameters: one text per column, its values joined by a character that JSON text never holds.
 * PostgreSQL splits them with `string_to_array`, in half the time that reading an array of JSON objects takes.
 *
 * 1. Every value arrives as it was given, null apart from empty text, any number of rows.
 * 2. No value may hold SEPARATOR or NOTHING: `isPlainText` tells, `plainText` replaces them.
 */
import { storableText } from '../lib/exact-json.ts'

const SEPARATOR = '\x1f'
const NOTHING = '\x1e'
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const RESERVED = /[\0\x1e\x1f]/
// oxlint-disable-next-line no-control-regex -- these are what is replaced
const SEPARATORS = /[\x1e\x1f]/g

export interface Column<Row> {
  readonly name: string
  /** Type in PostgreSQL. */
  readonly type: string
  /** The value as text; of the type `json` as JSON text. */
  readonly of: (row: Row) => string | number | boolean | null | undefined
}

/** False for text that a column cannot carry, or that PostgreSQL cannot hold. */
export const isPlainText = (text: string): boolean => !RESERVED.test(text) && text.isWellFormed()

export const plainText = (text: string): string =>
  isPlainText(text) ? text : storableText(text).replaceAll(SEPARATORS, '\uFFFD')

/** `from` item that gives the rows again; its parameters begin with number `first`. */
export const columnsFrom = <Row>(alias: string, columns: readonly Column<Row>[], first: number): string => {
  const arrays = columns.map(
    ({ type }, index) => `string_to_array($${first + index}, E'\\x1f', E'\\x1e')::${type}[]`,
  )
  return `unnest(${arrays.join(', ')}) as ${alias}(${columns.map(({ name }) => name).join(', ')})`
}

/** The parameters for `columnsFrom`. */
export const columnParameters = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] => {
  const parameters = columns.map(({ of }) => {
    let text = ''
    for (let index = 0; index < rows.length; index += 1) {
      const value = of(rows[index] as Row) ?? NOTHING
      text = index === 0 ? String(value) : `${text}${SEPARATOR}${value}`
    }
    return text
  })
  // Empty text would be split into no value at all; a second row of nulls, which joins nothing, tells them apart.
  return rows.length === 1 && parameters.includes('')
    ? parameters.map((text) => text + SEPARATOR + NOTHING)
    : parameters
}
