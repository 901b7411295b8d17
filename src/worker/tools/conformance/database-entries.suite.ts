/** The tools that work on databases: postgres, duckdb, ducklake, transfer. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres.ts'
import { createDatabasePaths } from '../duckdb/database-path.ts'
import { createDuckdbTool, createSharedEngine } from '../duckdb.ts'
import { createDucklakeTool } from '../ducklake.ts'
import { createHttpTool } from '../http.ts'
import { createPostgresTool } from '../postgres.ts'
import { aCall } from '../../test-support.ts'
import { createTransferTool } from '../transfer.ts'
import type { ConformanceEntry } from './tool.suite.ts'

const VAULT = '{{ keychain.vault.token }}'
const ENDLESS = 'select count(*) from range(1000000000) a, range(1000000) b'

/** Statements that run on the server, other than the one that asks. */
const runningStatements = async (database: TestDatabase): Promise<number> => {
  const tool = createPostgresTool()
  const query = `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and state <> 'idle' and query like '%pg_sleep%' and pid <> pg_backend_pid()`
  const { data } = await tool.run(aCall({ connection_string: database.url, query }))
  await tool.close()
  return (data as { rows: { n: number }[] }).rows[0]?.n ?? -1
}

const postgres: ConformanceEntry = {
  kind: 'postgres',
  async prepare() {
    const database = await createTestDatabase({ empty: true })
    const at = { connection_string: database.url }
    return {
      tool: createPostgresTool(),
      success: { config: { ...at, query: 'select 1 as n' }, data: { rows: [{ n: 1 }] } },
      error: {
        config: { ...at, query: 'select * from nowhere' },
        error: { kind: 'db_error', code: 'PG_42P01', retryable: false, sqlstate: '42P01' },
      },
      slow: { config: { ...at, query: 'select pg_sleep(600)' } },
      secret: { config: { ...at, query: `do $$ begin raise exception '${VAULT}'; end $$` } },
      late: {
        config: { ...at, query: `select '{{ word }}' as w, $1::int as n`, params: ['{{ number }}'] },
        data: { rows: [{ w: 'ok', n: 7 }] },
      },
      wrong: { config: { ...at, query: 'select 1', port: 'five' }, field: 'port' },
      leftovers: () => runningStatements(database),
      close: () => database.drop(),
    }
  },
}

const duckdb: ConformanceEntry = {
  kind: 'duckdb',
  async prepare() {
    const directory = await mkdtemp(join(tmpdir(), 'noetl-conformance-'))
    const engine = createSharedEngine()
    return {
      tool: createDuckdbTool({ engine, paths: createDatabasePaths(directory, directory) }),
      success: { config: { query: 'select 1 as n' }, data: { rows: [{ n: 1 }] } },
      error: {
        config: { query: 'from nowhere' },
        error: { kind: 'db_error', code: 'DUCKDB_CATALOG', retryable: false },
      },
      slow: { config: { query: ENDLESS } },
      secret: { config: { query: `select '${VAULT}' as s; select error('${VAULT}')` } },
      late: {
        config: { query: `select '{{ word }}' as w, $1 as n`, params: ['{{ number }}'] },
        data: { rows: [{ w: 'ok', n: 7 }] },
      },
      wrong: { config: { query: 'select 1', as_objects: 'perhaps' }, field: 'as_objects' },
      leftovers: () => engine.openCount(),
      close: () => rm(directory, { recursive: true, force: true }),
    }
  },
}

const ducklake: ConformanceEntry = {
  kind: 'ducklake',
  except: 'the extension of DuckDB that it needs may not be there',
  async prepare() {
    const engine = createSharedEngine()
    return {
      tool: createDucklakeTool({ engine }),
      success: null,
      error: { config: { query: 'select 1' }, error: { kind: 'config', code: 'CONFIG', retryable: false } },
      slow: null,
      secret: { config: { query: 'select 1', use_catalog: VAULT } },
      late: { config: { query: '{{ word }}' }, error: { kind: 'config' } },
      wrong: { config: { query: 'select 1', data_path: [1] }, field: 'data_path' },
      leftovers: () => engine.openCount(),
    }
  },
}

const transfer: ConformanceEntry = {
  kind: 'transfer',
  async prepare() {
    const database = await createTestDatabase({ empty: true })
    const directory = await mkdtemp(join(tmpdir(), 'noetl-conformance-'))
    const setup = createPostgresTool()
    const http = createHttpTool()
    await setup.run(aCall({ connection_string: database.url, query: 'create table t (id int, name text)' }))
    await setup.close()
    const paths = createDatabasePaths(directory, directory)
    const target = { type: 'postgres', connection: database.url, table: 't' }
    const rows = [{ id: 1, name: 'one' }]
    return {
      tool: createTransferTool({ duckdb: { engine: createSharedEngine(), paths }, http }),
      success: { config: { source: { type: 'rows', rows }, target }, data: { rows_transferred: 1 } },
      error: {
        config: { source: { type: 'rows', rows: [{ id: 'one' }] }, target },
        error: { kind: 'db_error', code: 'PG_22P02', retryable: false },
      },
      slow: {
        config: {
          source: { ...target, query: 'select 1 as id, pg_sleep(600)::text as name', table: null },
          target,
        },
      },
      secret: { config: { source: { type: 'rows', rows: [{ id: VAULT }] }, target } },
      late: {
        config: { source: { type: 'rows', rows: [{ id: '{{ number }}', name: '{{ word }}' }] }, target },
        data: { columns: ['id', 'name'], rows_transferred: 1 },
      },
      wrong: { config: { source: { type: 'rows', rows }, target, chunk_size: 0 }, field: 'chunk_size' },
      leftovers: () => runningStatements(database),
      async close() {
        await http.close()
        await database.drop()
        await rm(directory, { recursive: true, force: true })
      },
    }
  },
}

export const databaseEntries: readonly ConformanceEntry[] = [postgres, duckdb, ducklake, transfer]
