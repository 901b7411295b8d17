import type { ToolDeclaration } from './tool-declaration.ts'

export const transfer: ToolDeclaration = {
  kind: 'transfer',
  title: 'Transfer',
  description: 'Copies rows from one store to another in chunks. Its data counts rows and chunks.',
  fields: {
    source: {
      title: 'Source',
      type: 'mapping',
      required: true,
      description:
        'Where the rows come from: type is postgres, duckdb or http; with auth, and query, table, or url and data_path.',
      examples: [{ type: 'postgres', auth: 'pg_main', query: 'SELECT * FROM items' }],
    },
    target: {
      title: 'Target',
      type: 'mapping',
      required: true,
      description:
        'Where the rows go: type is postgres or duckdb; with auth, table, and mapping as {column: field}.',
      examples: [{ type: 'postgres', auth: 'pg_copy', table: 'items' }],
    },
    mode: {
      title: 'Mode',
      type: 'text',
      description:
        'append; replace empties the table first, in the same transaction; upsert writes over rows with the same key.',
      words: ['append', 'replace', 'upsert'],
      examples: ['append', 'replace', 'upsert'],
    },
    key: {
      title: 'Key',
      type: 'texts',
      description: 'With upsert: the columns that say which row is meant; they need a unique index.',
      aliases: ['keys', 'key_columns'],
      examples: [['id']],
    },
    mapping: {
      title: 'Mapping',
      type: 'mapping',
      description: 'Target column to source field; without it columns keep their names.',
      examples: [{ id: 'user.id', name: 'user.name' }],
    },
    chunk_size: {
      title: 'Chunk size',
      type: 'integer',
      least: 1,
      description: 'Rows copied at once; 1000 when left out.',
      examples: [1000],
    },
    direction: {
      title: 'Direction',
      type: 'text',
      description: 'Kept for existing playbooks: the types of source and target say it.',
      examples: ['http_to_postgres'],
    },
  },
  examples: [
    {
      source: { type: 'postgres', auth: 'pg_main', query: 'SELECT id, name FROM items' },
      target: { type: 'postgres', auth: 'pg_copy', table: 'items' },
      mode: 'upsert',
      key: ['id'],
    },
    {
      source: { type: 'http', url: 'https://example.com/items', data_path: 'items' },
      target: { type: 'postgres', auth: 'pg_main', table: 'items', mapping: { id: 'id', title: 'name' } },
    },
  ],
  data: {
    direction: 'such as http_to_postgres',
    'source_type, target_type, mode': 'as given',
    rows_transferred: 'rows written',
    chunks_processed: 'chunks they came in',
    target_table: 'where they are now',
    columns: 'of the target, in order',
  },
  notes: [
    'All rows are written in one transaction: after an error the target is as it was before. Rows come and go in chunks, so the size of the table does not matter.',
    'Errors are those of the two sides, with `source` or `target` in front of the message.',
  ],
}

export const snowflakeTransfer: ToolDeclaration = {
  kind: 'snowflake_transfer',
  title: 'Snowflake transfer',
  description: 'Copies rows between Snowflake and PostgreSQL.',
  fields: {
    source: {
      title: 'Source',
      type: 'mapping',
      description: 'Where the rows come from.',
      examples: [{ query: 'SELECT * FROM items' }],
    },
    target: {
      title: 'Target',
      type: 'mapping',
      description: 'Where the rows go.',
      examples: [{ table: 'items' }],
    },
    chunk_size: {
      title: 'Chunk size',
      type: 'integer',
      least: 1,
      description: 'Rows copied at once.',
      examples: [1000],
    },
    mode: {
      title: 'Mode',
      type: 'text',
      description: 'append or replace.',
      examples: ['append'],
    },
  },
  open: true,
  examples: [{ source: { query: 'SELECT * FROM items' }, target: { table: 'items' } }],
  unavailable:
    'the Snowflake driver and an account; export to files or to PostgreSQL and use kind: transfer, or call the SQL API of Snowflake with kind: http',
}
