/** The log of a process, on stderr: words where people look, JSON lines where programs do. */
import pino from 'pino'
import type { LogLevel as Level } from '../cli/log-lines.ts'
import { logLine } from '../cli/log-lines.ts'
import type { Terminal } from '../cli/terminal.ts'
import type { Log } from '../worker/log.ts'
import type { LogLevel } from './settings.ts'
import { LOG_LEVELS } from './settings.ts'

export const createLog = (level: LogLevel, terminal: Terminal): Log =>
  terminal.isErrorInteractive ? wordLog(level, terminal) : jsonLog(level)

const jsonLog = (level: LogLevel): Log => {
  const serializers = { error: plainError, err: plainError }
  return pino({ level, serializers }, pino.destination({ dest: 2, sync: true }))
}

/** Only these facts: errors of libraries carry whole connections along, with what they were opened with. */
const plainError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { name, message, stack } = error
  const code = (error as { code?: unknown }).code
  return { name, message, ...(typeof code === 'string' ? { code } : {}), stack }
}

const wordLog = (least: LogLevel, terminal: Terminal): Log => {
  const at = (level: Level) => (facts: object, message: string) => {
    if (LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least))
      terminal.err(logLine(level, facts, message, terminal))
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
