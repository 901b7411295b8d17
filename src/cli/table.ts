/**
 * Rows in columns.
 *
 * 1. Where a program reads, everything is printed in full.
 * 2. At a terminal a line fits: the column that may shrink is cut at its front, then columns at the end are left out.
 */
import type { Terminal } from './terminal.ts'

export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** The column that gives way where room is short; the end of its text is what tells it apart. */
  readonly shrinks?: number
  /** Colours a cell whose width is settled. */
  readonly paint?: (cell: string, column: number) => string
}

const GAP = '  '
/** A column that shrinks keeps this much. */
const LEAST_WIDTH = 12

export const tableLines = (table: Table, terminal: Terminal): readonly string[] => {
  const { head, rows, paint = (cell) => cell } = table
  const widths = widthsFor(table, terminal)
  const line = (cells: readonly string[], colour: typeof paint): string =>
    widths
      .map((width, column) => colour(shortened(cells[column] ?? '', width).padEnd(width), column))
      .join(GAP)
      .trimEnd()
  return [terminal.style.dim(line(head, (cell) => cell)), ...rows.map((row) => line(row, paint))]
}

/** The width of each column that is shown. */
const widthsFor = ({ head, rows, shrinks }: Table, terminal: Terminal): readonly number[] => {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  if (!terminal.isInteractive) return widths
  const room = terminal.columns() - 1
  const spare = (): number => room - totalOf(widths)
  const wide = shrinks === undefined ? 0 : (widths[shrinks] ?? 0)
  const shrink = (): void => {
    const width = shrinks === undefined ? undefined : widths[shrinks]
    if (shrinks === undefined || width === undefined) return
    widths[shrinks] = Math.min(wide, Math.max(LEAST_WIDTH, width + spare()))
  }
  shrink()
  while (widths.length > 1 && spare() < 0) widths.pop()
  // What was left out gives its room back.
  shrink()
  return widths
}

const totalOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1)

const shortened = (cell: string, width: number): string =>
  cell.length > width ? `…${cell.slice(cell.length - width + 1)}` : cell
