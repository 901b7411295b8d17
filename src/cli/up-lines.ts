/** What `noetl up` says. */
import type { Terminal } from './terminal.ts'

export interface UpFacts {
  readonly dataDir: string
  readonly isFresh: boolean
  /** Databases of the user's own. */
  readonly databaseCount: number
}

export const startingLine = ({ dataDir, isFresh, databaseCount }: UpFacts): string => {
  if (databaseCount > 0)
    return databaseCount === 1
      ? 'Connecting to PostgreSQL'
      : `Connecting to ${databaseCount} PostgreSQL shards`
  return isFresh
    ? `Preparing a PostgreSQL database in ${dataDir} (once, it takes a few seconds)`
    : `Starting PostgreSQL with the data in ${dataDir}`
}

/** Programs wait for exactly this line. */
export const readyLine = (url: string): string => `NoETL is ready at ${url}`

export interface NextFacts {
  readonly url: string
  /** How this command is called from here. */
  readonly command: string
  readonly examples: string
  /** What a command needs to find this server; empty when it finds it by itself. */
  readonly flags: string
  readonly executionId: string | null
}

export const tryNextLines = (
  { url, command, examples, flags, executionId }: NextFacts,
  { style }: Terminal,
): readonly string[] => [
  `${style.bold('Try next')}, in another terminal:`,
  `  ${command} run ${examples}/hello.yaml --set name=Ada${flags}`,
  `  ${command} run ${examples}/loop.yaml${flags}`,
  ...(executionId === null ? [] : [`  curl ${url}/api/executions/${executionId}/status`]),
]

export const noWorkerLine = (url: string, command: string): string =>
  `No worker runs here (--slots 0). Start one with: ${command} worker --server ${url}`

export const STOP_HINT = 'Ctrl-C stops it.'

export const stoppingLine = 'Stopping (Ctrl-C again leaves at once)'
