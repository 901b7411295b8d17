/** The result of an execution as text: whole where a program reads it, politely short at a terminal. */
import type { Json } from '../contract/json.ts'
import { countOf } from './diagnostics.ts'
import type { Terminal } from './terminal.ts'

const MOST_LINES = 30

export const resultLines = (result: Json, terminal: Terminal, whereTheRestIs: string): readonly string[] => {
  const lines = (typeof result === 'string' ? result : JSON.stringify(result, null, 2)).split('\n')
  if (!terminal.isInteractive) return lines
  const room = terminal.columns() - 1
  const shown = lines
    .slice(0, MOST_LINES)
    .map((line) => (line.length > room ? `${line.slice(0, room - 1)}…` : line))
  const cut = lines.length > MOST_LINES || shown.some((line, index) => line !== lines[index])
  if (!cut) return shown
  const more = lines.length > MOST_LINES ? `${countOf(lines.length - MOST_LINES, 'more line')}; ` : ''
  return [...shown, terminal.style.dim(`… ${more}all of it: ${whereTheRestIs}`)]
}
