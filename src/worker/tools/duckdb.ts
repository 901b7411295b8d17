/**
 * Runs SQL in an embedded DuckDB.
 *
 * 1. The statements of a call run one after the other on one connection, each committed by itself, and stop at the
 *    first error. BEGIN and COMMIT are honoured; a transaction left open is rolled back and is an error.
 * 2. Data has the fields of the last statement with rows, else of the last one: `columns`, `rows`, `row_count`,
 *    `affected_rows`; then `statement_count`, `executed_commands`, and `command_<i>` for every statement.
 * 3. Without a `database` the steps of an execution share a file of their own.
 * 4. Running out of time and cancellation interrupt the statement.
 */
import { duckdb } from '../../contract/tools/duckdb.ts'
import { failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { booleanField } from './coerce.ts'
import { openFetch, type OutboundFetch } from './http/outbound-fetch.ts'
import { attachAll } from './duckdb/attach.ts'
import type { DatabasePaths } from './duckdb/database-path.ts'
import { type LoadDriver, loadDriver } from './duckdb/driver.ts'
import { duckdbAbort } from './duckdb/duckdb-error.ts'
import { createDuckdbEngine, type DuckdbEngine } from './duckdb/engine.ts'
import { runStatements } from './duckdb/run-statements.ts'
import { statementsOf } from './postgres/statement-text.ts'

export interface DuckdbToolOptions {
  readonly paths: DatabasePaths
  /** Relative paths of scripts start here. */
  readonly directory?: string
  /** Fetches scripts that a call has behind an address. */
  readonly fetch?: OutboundFetch
  /** Larger results fail. */
  readonly maxResultBytes?: number
  readonly engine: DuckdbEngine
}

export interface DuckdbTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
}

const DEFAULT_RESULT_BYTES = 64 * 1024 * 1024
/** The process has four threads for waiting on others; half of them stay free. */
const MOST_CALLS = 2

/** One engine for every tool of a worker that uses DuckDB. */
export const createSharedEngine = (load: LoadDriver = loadDriver): DuckdbEngine =>
  createDuckdbEngine(load, MOST_CALLS)

export const createDuckdbTool = (options: DuckdbToolOptions): DuckdbTool => {
  const { directory = process.cwd(), fetch = openFetch } = options
  const limit = options.maxResultBytes ?? DEFAULT_RESULT_BYTES
  const { engine, paths } = options

  const run = async ({ config, command, signal }: ToolCall): Promise<ToolResult> => {
    const statements = await statementsOf(config, { directory, fetch, signal, kind: 'duckdb' })
    const asObjects = booleanField(config, true, 'as_objects')
    const database = await paths.of(config, command.executionId)
    return engine.use(database, signal, async (session) => {
      await attachAll(session.connection, config)
      return runStatements(statements, { ...session, asObjects, signal, budget: { limit, used: 0 } })
    })
  }

  return {
    kind: 'duckdb',
    declaration: duckdb,
    instant: false,
    async run(call) {
      try {
        return await run(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? duckdbAbort(call.signal.reason) : thrown)
      }
    },
    close: () => engine.close(),
  }
}
