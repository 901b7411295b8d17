/**
 * What a command says and where. Results go to stdout, everything about them to stderr.
 *
 * 1. The live line is at the bottom of an interactive terminal and nowhere else; it disappears before anything else
 *    is printed and comes back after it.
 * 2. A reader that went away (`| head`) ends the output, not the program; one that has nothing else to do hears of it by
 *    `abandoned`. Results that are lost otherwise, such as on a full disk, are a failure that is asked for at the end.
 */
import picocolors from 'picocolors'

/** Functions that colour text, or leave it alone where colour is not wanted. */
export type Style = ReturnType<typeof picocolors.createColors>

export interface Output {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
}

export interface Terminal {
  /** Stdout is a terminal that people look at. */
  readonly isInteractive: boolean
  /** Stderr is one. */
  readonly isErrorInteractive: boolean
  readonly style: Style
  /** For what goes to stderr. */
  readonly errorStyle: Style
  columns(): number
  /** Prints whole lines on stdout. */
  out(text: string): void
  /** Prints whole lines on stderr. */
  err(text: string): void
  /** Replaces the line at the bottom; null removes it. Does nothing where nobody looks. */
  live(text: string | null): void
  /** Aborts when nobody reads stdout any more. */
  readonly abandoned: AbortSignal
  /** Why results could not be written; null when they could, or when nobody wanted them any more. */
  failure(): Error | null
}

export interface TerminalOptions {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
}

const ERASE_LINE = '\r\u001B[2K'
const DEFAULT_COLUMNS = 80

export const createTerminal = ({ stdout, stderr, env }: TerminalOptions): Terminal => {
  const isInteractive = stdout.isTTY === true && env['TERM'] !== 'dumb'
  const isErrorInteractive = stderr.isTTY === true && env['TERM'] !== 'dumb'
  let shown: string | null = null
  let failure: Error | null = null
  const leaving = new AbortController()
  stdout.on('error', (error) => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') leaving.abort()
    else failure ??= error
  })
  stderr.on('error', () => undefined)

  const print = (stream: Output, text: string): void => {
    if (shown !== null) stdout.write(ERASE_LINE)
    stream.write(text.endsWith('\n') ? text : `${text}\n`)
    if (shown !== null) stdout.write(shown)
  }

  return {
    isInteractive,
    isErrorInteractive,
    style: picocolors.createColors(hasColour(isInteractive, env)),
    errorStyle: picocolors.createColors(hasColour(isErrorInteractive, env)),
    // Some terminals say 0 for "unknown".
    columns: () => stdout.columns || DEFAULT_COLUMNS,
    out: (text) => print(stdout, text),
    err: (text) => print(stderr, text),
    live: (text) => {
      if (!isInteractive || text === shown) return
      if (shown !== null) stdout.write(ERASE_LINE)
      shown = text
      if (text !== null) stdout.write(text)
    },
    abandoned: leaving.signal,
    failure: () => failure,
  }
}

const hasColour = (interactive: boolean, env: TerminalOptions['env']): boolean => {
  if (env['NO_COLOR']) return false
  return interactive || Boolean(env['FORCE_COLOR'])
}
