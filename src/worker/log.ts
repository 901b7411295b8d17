/** Where the worker writes about itself. A pino logger satisfies it. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const nothing = (): void => undefined

export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
