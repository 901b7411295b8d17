/**
 * Runs SQL over a DuckLake catalog: DuckDB with the catalog attached and in use.
 *
 * 1. The catalog is `catalog_connection`, or the postgres credential in `auth`; it is attached as `catalog_name`
 *    (`lake` when none is given) with its files under `data_path`.
 * 2. Data is that of a duckdb call, with `status`, `result` (its rows) and `catalog_info`.
 * 3. Where the extension cannot be had, the call fails with what to do.
 */
import { ducklake } from '../../contract/tools/duckdb.ts'
import type { JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { booleanField, credentialFields, textField } from './coerce.ts'
import { openFetch } from './http/outbound-fetch.ts'
import { keywordString, quoteName, quoteText } from './duckdb/attach.ts'
import type { DuckdbConnection } from './duckdb/driver.ts'
import { duckdbAbort } from './duckdb/duckdb-error.ts'
import { IN_MEMORY } from './duckdb/engine.ts'
import { runStatements } from './duckdb/run-statements.ts'
import type { DuckdbToolOptions } from './duckdb.ts'
import { statementsOf } from './postgres/statement-text.ts'

const DEFAULT_NAME = 'lake'
const DEFAULT_RESULT_BYTES = 64 * 1024 * 1024

interface Catalog {
  readonly name: string
  /** What follows `ducklake:`. */
  readonly location: string
  readonly isPostgres: boolean
  readonly dataPath: string | null
}

const catalogOf = async (config: JsonObject): Promise<Catalog> => {
  const name = textField(config, 'catalog_name') ?? DEFAULT_NAME
  const dataPath = textField(config, 'data_path')
  const connection = textField(config, 'catalog_connection')
  const credential = credentialFields(config)
  const isServer = connection !== null && /^postgres(?:ql)?:/.test(connection)
  if (connection !== null && !isServer) {
    return { name, location: connection.replace(/^ducklake:/, ''), isPostgres: false, dataPath }
  }
  const server = isServer ? { connection_string: connection } : credential
  if (server === null) {
    throw configFailure(
      'A ducklake tool needs catalog_connection (a file, or postgres://…) or auth with a postgres credential',
    )
  }
  return { name, location: `postgres:${await keywordString(server)}`, isPostgres: true, dataPath }
}

const attachCatalog = async (
  connection: DuckdbConnection,
  catalog: Catalog,
  inUse: boolean,
): Promise<void> => {
  await connection.run('LOAD ducklake')
  if (catalog.isPostgres) await connection.run('LOAD postgres')
  const path = catalog.dataPath === null ? '' : ` (DATA_PATH ${quoteText(catalog.dataPath)})`
  const name = quoteName(catalog.name)
  await connection.run(`ATTACH ${quoteText(`ducklake:${catalog.location}`)} AS ${name}${path}`)
  if (inUse) await connection.run(`USE ${name}`)
}

const withCatalog = (result: ToolResult, { name, dataPath, isPostgres }: Catalog): ToolResult => {
  if (!isObject(result.data ?? null)) return result
  const data = result.data as JsonObject
  return {
    ...result,
    data: {
      ...data,
      status: result.outcome === 'ok' ? 'success' : 'error',
      result: data['rows'] ?? [],
      catalog_info: { name, data_path: dataPath, type: isPostgres ? 'postgres' : 'file' },
    },
  }
}

export const createDucklakeTool = (options: Omit<DuckdbToolOptions, 'paths'>): Tool => {
  const { directory = process.cwd(), fetch = openFetch } = options
  const limit = options.maxResultBytes ?? DEFAULT_RESULT_BYTES

  const run = async ({ config, signal }: ToolCall): Promise<ToolResult> => {
    const statements = await statementsOf(config, { directory, fetch, signal, kind: 'ducklake' })
    const catalog = await catalogOf(config)
    const asObjects = booleanField(config, true, 'as_objects')
    const inUse = booleanField(config, true, 'use_catalog')
    // The catalog keeps the state; the database around it is of this call.
    return options.engine.use({ path: IN_MEMORY, readOnly: false }, signal, async (session) => {
      await attachCatalog(session.connection, catalog, inUse)
      const budget = { limit, used: 0 }
      return withCatalog(await runStatements(statements, { ...session, asObjects, signal, budget }), catalog)
    })
  }

  return {
    kind: 'ducklake',
    declaration: ducklake,
    instant: false,
    async run(call) {
      try {
        return await run(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? duckdbAbort(call.signal.reason) : thrown)
      }
    },
  }
}
