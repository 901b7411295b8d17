import { ROWS_DATA, script, statementFields } from './shared-fields.ts'
import type { ToolDeclaration, ToolFields } from './tool-declaration.ts'

/** Where a PostgreSQL server is, when no credential says it. */
const connectionFields: ToolFields = {
  connection_string: {
    title: 'Connection',
    type: 'text',
    description: 'Where the database is, instead of a credential.',
    also: ['dsn', 'url', 'uri', 'database_url'],
    examples: ['postgres://localhost:5432/app'],
  },
  connection: {
    title: 'Connection',
    type: ['text', 'mapping'],
    description: 'The same as a text, or as a mapping of host, port, user, password and database.',
    examples: ['postgres://localhost:5432/app'],
  },
  host: {
    title: 'Host',
    type: 'text',
    description: 'Host of the database.',
    also: ['db_host', 'hostaddr'],
    examples: ['localhost'],
  },
  port: {
    title: 'Port',
    type: 'integer',
    least: 1,
    description: 'Port of the database.',
    also: ['db_port'],
    examples: [5432],
  },
  database: {
    title: 'Database',
    type: 'text',
    description: 'Name of the database.',
    also: ['dbname', 'db_name'],
    examples: ['app'],
  },
  user: {
    title: 'User',
    type: 'text',
    description: 'User of the database.',
    also: ['username', 'db_user'],
    examples: ['app'],
  },
  password: {
    title: 'Password',
    type: 'text',
    description: 'Better kept in a credential: auth.',
    also: ['db_password'],
  },
  sslmode: {
    title: 'Encryption',
    type: 'text',
    description: 'disable, allow, prefer (the default), require, verify-ca or verify-full.',
    also: ['ssl_mode'],
    examples: ['require'],
  },
  ssl: { title: 'Encryption', type: 'any', description: 'true means sslmode: require.', examples: [true] },
  sslrootcert: {
    title: 'Root certificate',
    type: 'text',
    description: 'Whom to trust: a file, or the certificate itself.',
  },
  sslcert: { title: 'Certificate', type: 'text', description: 'Ours: a file, or the certificate itself.' },
  sslkey: { title: 'Key', type: 'text', description: 'Of our certificate; better kept in a credential.' },
  options: { title: 'Options', type: 'text', description: 'Options of the session.' },
  application_name: {
    title: 'Application name',
    type: 'text',
    description: 'How the server lists us.',
    examples: ['noetl'],
  },
}

export const postgres: ToolDeclaration = {
  kind: 'postgres',
  title: 'PostgreSQL',
  description:
    'Runs SQL. Its data is {rows, row_count, columns, affected_rows} of the last statement, and command_0, command_1, … for each.',
  fields: {
    ...statementFields,
    ...connectionFields,
    schema: {
      title: 'Schema',
      type: 'text',
      description: 'Schema that unqualified names are looked up in.',
      examples: ['public'],
    },
    pool: {
      title: 'Pool',
      type: 'mapping',
      description: 'Limits of the connection pool.',
      examples: [{ max_size: 5 }],
    },
    script,
  },
  oneOf: [
    {
      fields: ['query', 'query_b64', 'script'],
      message: 'No SQL command provided: a postgres tool needs query, command or script',
    },
  ],
  examples: [
    { auth: 'pg_main', query: 'SELECT id FROM items WHERE city = $1', params: ['Paris'] },
    { auth: 'pg_main', command: "INSERT INTO items (name) VALUES ('x') RETURNING id" },
  ],
  data: ROWS_DATA,
  notes: [
    'Each statement is committed by itself, unless you write BEGIN and COMMIT. The first error ends the call.',
    'Errors have the code `PG_<sqlstate>` and the kind `db_constraint`, `db_deadlock`, `db_timeout`, `db_connection`, `auth` or `db_error`.',
  ],
}
