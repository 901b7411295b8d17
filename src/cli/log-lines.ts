/** Log lines for people: level, words, then the facts. Programs get JSON instead (compose/log.ts). */
import type { Terminal } from './terminal.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const WORDS: Record<LogLevel, string> = { debug: 'debug:', info: 'info:', warn: 'warning:', error: 'error:' }

export const logLine = (
  level: LogLevel,
  facts: object,
  message: string,
  { errorStyle: style }: Terminal,
): string => {
  const paint = level === 'error' ? style.red : level === 'warn' ? style.yellow : style.dim
  const details = Object.entries(facts).map(([name, value]) => `${name}=${factText(value)}`)
  return `${paint(WORDS[level])} ${message}${details.length > 0 ? ` ${style.dim(details.join(' '))}` : ''}`
}

const factText = (value: unknown): string => {
  if (value instanceof Error) return value.message
  return typeof value === 'string' ? value : JSON.stringify(value)
}
