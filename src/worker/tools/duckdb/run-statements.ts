/** Runs the statements of a call one after the other and puts their results together. */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { failed, ToolFailure } from '../../tool-failure.ts'
import type { ToolResult } from '../../tool.ts'
import type { Statement } from '../postgres/statement-text.ts'
import { duckdbAbort, duckdbFailure } from './duckdb-error.ts'
import { runStatement, type RunOptions, type StatementResult } from './run-statement.ts'

const dataOf = (results: readonly StatementResult[], extra: JsonObject): JsonObject => {
  const shown = results.findLast((result) => result.hasRows) ?? results.at(-1)
  const commands = results.map(({ fields }, index): [string, Json] => [
    `command_${index}`,
    { status: 'success', ...fields },
  ])
  return {
    ...shown?.fields,
    ...extra,
    executed_commands: results.length,
    ...Object.fromEntries(commands),
  }
}

/** A transaction that is open refuses another BEGIN; asked only when the statements used any. */
const isTransactionOpen = async ({ connection }: RunOptions): Promise<boolean> => {
  try {
    await connection.run('BEGIN')
    await connection.run('ROLLBACK')
    return false
  } catch {
    return true
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

/** Never rejects: an error comes with the data of the statements before it. */
export const runStatements = async (
  statements: readonly Statement[],
  options: RunOptions,
): Promise<ToolResult> => {
  const { signal } = options
  const results: StatementResult[] = []
  const count = { statement_count: statements.length }
  try {
    for (const statement of statements) {
      signal.throwIfAborted()
      results.push(await runStatement(statement, options))
    }
    const usedTransactions = results.some(({ isTransaction }) => isTransaction)
    if (usedTransactions && (await isTransactionOpen(options))) throw openTransaction()
    return { outcome: 'ok', data: dataOf(results, count) }
  } catch (thrown) {
    const extra = { ...count, failed_command: Math.min(results.length, statements.length - 1) }
    return {
      ...failed(signal.aborted ? duckdbAbort(signal.reason) : duckdbFailure(thrown)),
      data: dataOf(results, extra),
    }
  }
}
