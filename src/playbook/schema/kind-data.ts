/** Kinds that read and write data stores. */
import { kind, script, statement } from './kind-field.ts'
import type { KindNotes } from './kind-field.ts'
import { about } from './parts.ts'

export const dataKinds = {
  postgres: kind(
    'PostgreSQL',
    'Runs SQL. Its data is {rows, row_count, columns, affected_rows} of the last statement, and command_0, command_1, … for each.',
    {
      ...statement,
      connection_string: about(
        'Connection',
        'Where the database is, instead of a credential.',
        'postgres://localhost:5432/app',
      ),
      host: about('Host', 'Host of the database.', 'localhost'),
      port: about('Port', 'Port of the database.', 5432),
      database: about('Database', 'Name of the database.', 'app'),
      user: about('User', 'User of the database.', 'app'),
      password: about('Password', 'Better kept in a credential: auth.'),
      schema: about('Schema', 'Schema that unqualified names are looked up in.', 'public'),
      pool: about('Pool', 'Limits of the connection pool.', { max_size: 5 }),
      script,
    },
  ),
  duckdb: kind('DuckDB', 'Runs SQL in an embedded DuckDB. Its data is {rows, row_count, columns}.', {
    ...statement,
    database: about(
      'Database file',
      'File of the database; without it one of the run, or in memory.',
      '/data/app.duckdb',
    ),
    db_path: about('Database file', 'Another name for database.', '/data/app.duckdb'),
  }),
  ducklake: kind('DuckLake', 'Runs SQL over a DuckLake catalog.', {
    ...statement,
    catalog_connection: about('Catalog', 'Connection of the catalog database.', 'postgres://localhost/lake'),
    catalog_name: about('Catalog name', 'Name of the catalog.', 'lake'),
    data_path: about('Data path', 'Where the data files are.', 's3://bucket/lake'),
  }),
  snowflake: kind('Snowflake', 'Runs SQL in Snowflake. Its data has one entry for each statement.', {
    ...statement,
    account: about('Account', 'Account identifier.', 'ab12345.eu-west-1'),
    user: about('User', 'User name.', 'LOADER'),
    warehouse: about('Warehouse', 'Warehouse that runs the statements.', 'COMPUTE_WH'),
    database: about('Database', 'Name of the database.', 'APP'),
    schema: about('Schema', 'Name of the schema.', 'PUBLIC'),
    role: about('Role', 'Role to use.', 'LOADER'),
  }),
  transfer: kind('Transfer', 'Copies rows from one store to another. Its data counts rows and chunks.', {
    source: about('Source', 'Where the rows come from.', {
      type: 'postgres',
      auth: 'pg_main',
      query: 'SELECT * FROM items',
    }),
    target: about('Target', 'Where the rows go; mapping is {column: field}.', {
      type: 'postgres',
      auth: 'pg_copy',
      table: 'items',
    }),
    mode: about('Mode', 'append, replace (empties the table first) or upsert.', 'append'),
    chunk_size: about('Chunk size', 'Rows copied at once.', 1000),
  }),
  snowflake_transfer: kind('Snowflake transfer', 'Copies rows between Snowflake and PostgreSQL.', {
    source: about('Source', 'Where the rows come from.', { query: 'SELECT * FROM items' }),
    target: about('Target', 'Where the rows go.', { table: 'items' }),
    chunk_size: about('Chunk size', 'Rows copied at once.', 1000),
    mode: about('Mode', 'append or replace.', 'append'),
  }),
  gcs: kind('Google Cloud Storage', 'Copies a file to a bucket.', {
    source: about('Source', 'The file to copy.', '/tmp/report.csv'),
    destination: about('Destination', 'Where it goes.', 'gs://bucket/report.csv'),
  }),
  artifact: kind('Artifact', 'Loads or stores a large result. Its data is the content.', {
    action: about('Action', 'get or put.', 'get'),
    uri: about('Address', 'Where the content is.', 'file:///data/report.json'),
    data: about('Data', 'With put: what is stored.', { rows: [] }),
  }),
  result_fetch: kind('Result', 'Loads the result that a reference stands for.', {
    ref: about('Reference', 'The reference of a stored result.', '{{ load_items._ref }}'),
    prefer: about('Way', 'flight or http.', 'http'),
  }),
} satisfies Record<string, KindNotes>
