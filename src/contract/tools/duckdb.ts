import { ROWS_DATA, script, statementFields } from './shared-fields.ts'
import type { ToolDeclaration } from './tool-declaration.ts'

const duckdbNotes: readonly string[] = [
  'Without a database the call uses one that all duckdb steps of the same execution on the same worker share. Files that must outlive the execution need a `database` of their own.',
  'Several calls on one file share one engine of the worker; another worker waits for the file or fails with the code `DUCKDB_LOCKED`, which is retryable.',
  'Integers beyond 2^53, HUGEINT and DECIMAL that no number holds exactly are texts; times are ISO 8601; LIST, STRUCT and MAP are lists and mappings; BLOB is base64.',
  'Errors have the kind `db_error`, `db_constraint`, `db_timeout` or `db_connection` and a code such as `DUCKDB_CATALOG`. Needs the package @duckdb/node-api, else `TOOL_UNAVAILABLE`.',
]

export const duckdb: ToolDeclaration = {
  kind: 'duckdb',
  title: 'DuckDB',
  description:
    'Runs SQL in an embedded DuckDB, which also reads CSV, JSON and Parquet files. Its data is {rows, row_count, columns}, and command_0, command_1, … for each statement.',
  fields: {
    ...statementFields,
    database: {
      title: 'Database file',
      type: 'text',
      description: 'File of the database, or :memory:; without it one of the execution.',
      aliases: ['db_path', 'database_path'],
      examples: ['/data/app.duckdb', ':memory:'],
    },
    read_only: {
      title: 'Read only',
      type: 'flag',
      description: 'true: the file is opened without the right to write.',
      examples: [true],
    },
    auth: {
      title: 'Credentials',
      type: ['text', 'mapping'],
      description:
        'A credential, or several by name, that are attached before the statements run: postgres as a database, s3 and gcs as secrets.',
      older: ['credential'],
      examples: ['pg_main', { pg: { source: 'credential', key: 'pg_main', type: 'postgres' } }],
    },
    script,
  },
  oneOf: [
    {
      fields: ['query', 'query_b64', 'script'],
      message: 'No SQL command provided: a duckdb tool needs query, command, commands or script',
    },
  ],
  examples: [
    { query: "SELECT count(*) AS n FROM read_csv('/data/items.csv')" },
    { database: ':memory:', commands: ['CREATE TABLE t AS SELECT 1 AS id', 'SELECT * FROM t'] },
  ],
  data: { ...ROWS_DATA, executed_commands: 'statements that ran' },
  notes: duckdbNotes,
}

export const ducklake: ToolDeclaration = {
  kind: 'ducklake',
  title: 'DuckLake',
  description:
    'Runs SQL over a DuckLake catalog. Its data is that of duckdb, and status, result and catalog_info.',
  fields: {
    ...statementFields,
    catalog_connection: {
      title: 'Catalog',
      type: 'text',
      description: 'Connection of the catalog database; a credential in auth gives it too.',
      examples: ['postgres://localhost/lake', 'metadata.ducklake'],
    },
    catalog_name: {
      title: 'Catalog name',
      type: 'text',
      description: 'Name the catalog is attached as; lake when left out.',
      examples: ['lake'],
    },
    data_path: {
      title: 'Data path',
      type: 'text',
      description: 'Where the data files are.',
      examples: ['/data/lake'],
    },
    use_catalog: {
      title: 'Use the catalog',
      type: 'flag',
      description: 'false: names are not looked up in the catalog unless they say so.',
      examples: [true],
    },
    create_catalog: {
      title: 'Create the catalog',
      type: 'flag',
      description: 'Kept for existing playbooks: a catalog that is not there is always made.',
      examples: [true],
    },
    script,
  },
  oneOf: [
    {
      fields: ['query', 'query_b64', 'script'],
      message: 'No SQL command provided: a ducklake tool needs query, command, commands or script',
    },
  ],
  examples: [
    { catalog_connection: 'metadata.ducklake', data_path: '/data/lake', query: 'SELECT * FROM items' },
  ],
  data: {
    ...ROWS_DATA,
    status: 'success',
    result: 'rows of the last statement that has rows',
    catalog_info: 'name, data path and kind of the catalog',
  },
  notes: [
    'Needs the DuckDB extensions `ducklake` and, for a catalog in PostgreSQL, `postgres`. Where they can be neither found nor downloaded, the call fails with `TOOL_UNAVAILABLE`.',
  ],
}
