/**
 * The server's own database, for admins. SQL over HTTP is off unless the server was told otherwise: whoever may run it
 * may read and change everything.
 */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { SchemaAnswer, SqlAnswer, SqlRequest } from '../../contract/api-database.ts'
import { ProblemError } from '../../contract/problem.ts'
import { databaseProblem } from '../../store/failure.ts'
import { existingTables, runRawSql } from '../../store/raw-sql.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'

const tag = 'server'
const TIMEOUT_MS = 30_000
const MAX_ROWS = 10_000
const TABLES = ['catalog', 'credential', 'event', 'execution', 'command', 'keychain', 'runtime', 'result']

const OFF =
  'SQL over HTTP is switched off; NOETL_RAW_SQL=true switches it on for admins. Better use psql with the server’s database'

export const databaseRoutes = (app: FastifyInstance, { core, rawSql = false }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'POST',
      url: '/api/postgres/execute',
      name: 'runSql',
      tag,
      access: 'admin',
      summary: "Run SQL in the server's database",
      description:
        'One transaction, 30 seconds at most, the first 10,000 rows. Off unless NOETL_RAW_SQL is true.',
      body: SqlRequest,
      answer: SqlAnswer,
      problems: ['forbidden', 'bad_request'],
    },
    async ({ body }) => {
      if (!rawSql) throw new ProblemError('forbidden', OFF)
      const { rows, command, rowCount, truncated } = await runRawSql(cluster, {
        ...statementOf(body),
        schema: body.schema ?? null,
        timeoutMs: TIMEOUT_MS,
        maxRows: MAX_ROWS,
      }).catch(refused)
      return { status: 'ok', result: rows, command, row_count: rowCount, truncated }
    },
  )

  const check = async () => {
    const there = await existingTables(cluster, TABLES)
    const missing = TABLES.filter((name) => !there.has(name))
    const valid = missing.length === 0
    return {
      status: valid ? 'ok' : 'error',
      message: valid ? 'The schema is complete' : `Tables are missing: ${missing.join(', ')}`,
      valid,
      tables: TABLES.filter((name) => there.has(name)),
      missing,
    }
  }

  route(
    app,
    {
      method: 'GET',
      url: '/api/db/validate',
      name: 'checkSchema',
      tag,
      access: 'viewer',
      summary: 'Is the schema complete',
      answer: SchemaAnswer,
    },
    check,
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/db/init',
      name: 'initSchema',
      tag,
      access: 'admin',
      summary: 'Is the schema complete',
      description: 'A server makes and migrates its schema when it starts; this only says that it did.',
      answer: SchemaAnswer,
    },
    check,
  )
}

const statementOf = ({
  query,
  query_base64,
  procedure,
  parameters,
}: z.output<typeof SqlRequest>): { text: string; parameters: readonly unknown[] } => {
  const given = parameters ?? []
  const text = query ?? (query_base64 ? Buffer.from(query_base64, 'base64').toString() : null)
  if (text !== null && text.trim() !== '') return { text, parameters: given }
  if (!procedure)
    throw new ProblemError('invalid', "One of 'query', 'query_base64' and 'procedure' is needed")
  const name = procedure
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')
  return { text: `call ${name}(${given.map((_, index) => `$${index + 1}`).join(', ')})`, parameters: given }
}

/** What PostgreSQL says about the statement is what its author wants to read. */
const refused = (error: unknown): never => {
  const state = (error as { code?: unknown }).code
  if (typeof state === 'string' && /^\w{5}$/.test(state) && !databaseProblem(error))
    throw new ProblemError('bad_request', `SQL error ${state}: ${(error as Error).message}`, { cause: error })
  throw error
}
