/**
 * Runs SQL on PostgreSQL.
 *
 * 1. The statements of a call run one after the other on one connection, each committed by itself, and stop at the
 *    first error. BEGIN and COMMIT are honoured; a transaction left open is rolled back and is an error.
 * 2. Data has the fields of the last statement with rows, else of the last one: `columns`, `rows`, `row_count`,
 *    `affected_rows`; then `statement_count`, and `command_<i>` for every statement. After an error, the data of the
 *    statements before it and `failed_command`.
 * 3. The limit of time is known to the server too. Running out of time and cancellation cancel the statement there, and
 *    break the connection when that does not help.
 * 4. What the server says beside its answers (RAISE NOTICE) goes to the log.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { postgres } from '../../contract/tools/postgres.ts'
import { durationMs } from '../duration.ts'
import { failed, ToolFailure } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { booleanField } from './coerce.ts'
import { openFetch, type OutboundFetch } from './http/outbound-fetch.ts'
import { createConnectionPools, type PooledConnection } from './postgres/connection-pools.ts'
import { connectionSettings, searchPath } from './postgres/connection-settings.ts'
import { abortFailure, databaseFailure } from './postgres/postgres-error.ts'
import { runStatement, type StatementResult } from './postgres/run-statement.ts'
import { type Statement, statementsOf } from './postgres/statement-text.ts'
import { watchAbort } from './postgres/watch-abort.ts'

export interface PostgresToolOptions {
  /** Relative script paths start here. */
  readonly directory?: string
  /** Fetches scripts that a call has behind an address. */
  readonly fetch?: OutboundFetch
  /** Larger results fail. */
  readonly maxResultBytes?: number
}

export interface PostgresTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
  /** Connections open now. */
  connectionCount(): number
  close(): Promise<void>
}

const DEFAULT_RESULT_BYTES = 64 * 1024 * 1024

const dataOf = (results: readonly StatementResult[], extra: JsonObject): JsonObject => {
  const shown = results.findLast((result) => result.hasRows) ?? results.at(-1)
  const commands = results.map(({ fields }, index): [string, Json] => [
    `command_${index}`,
    { status: 'success', ...fields },
  ])
  return { ...shown?.fields, ...extra, ...Object.fromEntries(commands) }
}

/** Settings of the session for this call only: the pool takes them back. */
const prepareSession = async ({ client }: PooledConnection, config: JsonObject): Promise<void> => {
  const path = searchPath(config)
  const limitMs =
    durationMs(config['timeout_seconds'], 'timeout_seconds') ?? durationMs(config['timeout'], 'timeout')
  const settings: [string, string][] = [
    ...(path === null ? [] : [['search_path', path] as [string, string]]),
    ...(limitMs === null ? [] : [['statement_timeout', String(limitMs)] as [string, string]]),
  ]
  if (settings.length === 0) return
  const calls = settings.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`)
  try {
    await client.query(`select ${calls.join(', ')}`, settings.flat())
  } catch (error) {
    throw databaseFailure(error, null)
  }
}

const openTransaction = (): ToolFailure =>
  new ToolFailure({
    kind: 'db_error',
    code: 'OPEN_TRANSACTION',
    message:
      'The statements begin a transaction and do not end it; it was rolled back. Add COMMIT or ROLLBACK.',
    retryable: false,
  })

export const createPostgresTool = (options: PostgresToolOptions = {}): PostgresTool => {
  const { directory = process.cwd(), fetch = openFetch } = options
  const limit = options.maxResultBytes ?? DEFAULT_RESULT_BYTES
  const pools = createConnectionPools()

  const runAll = async (
    connection: PooledConnection,
    statements: readonly Statement[],
    { config, signal }: ToolCall,
  ): Promise<ToolResult> => {
    const { client } = connection
    const asObjects = booleanField(config, true, 'as_objects')
    const budget = { limit, used: 0 }
    const results: StatementResult[] = []
    const count = { statement_count: statements.length }
    try {
      await prepareSession(connection, config)
      for (const statement of statements) {
        signal.throwIfAborted()
        const onTooLarge = (): void => connection.cancel()
        results.push(await runStatement(statement, { client, asObjects, budget, onTooLarge }))
      }
      if (client.getTransactionStatus() !== 'I') throw openTransaction()
      return { outcome: 'ok', data: dataOf(results, count) }
    } catch (thrown) {
      const extra = { ...count, failed_command: Math.min(results.length, statements.length - 1) }
      return {
        ...failed(signal.aborted ? abortFailure(signal.reason) : thrown),
        data: dataOf(results, extra),
      }
    }
  }

  const run = async (call: ToolCall): Promise<ToolResult> => {
    const { config, signal } = call
    const statements = await statementsOf(config, { directory, fetch, signal })
    const connection = await pools.acquire(await connectionSettings(config), signal)
    const onNotice = (notice: { severity?: string | undefined; message?: string | undefined }): void =>
      call.log('stderr', `${notice.severity ?? 'NOTICE'}: ${notice.message ?? ''}\n`)
    connection.client.on('notice', onNotice)
    const unwatch = watchAbort(connection, signal)
    try {
      return await runAll(connection, statements, call)
    } finally {
      unwatch()
      connection.client.removeListener('notice', onNotice)
      connection.release()
    }
  }

  return {
    kind: 'postgres',
    declaration: postgres,
    instant: false,
    async run(call) {
      try {
        return await run(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? abortFailure(call.signal.reason) : thrown)
      }
    },
    connectionCount: () => pools.connectionCount(),
    close: () => pools.close(),
  }
}
