/**
 * Parameters of a statement in the text form that PostgreSQL reads.
 *
 * 1. The server decides the type of every parameter; numbers and booleans are sent as text, mappings as JSON.
 * 2. A list is an array where the statement wants an array, and JSON everywhere else: the server is asked which.
 */
import type { ClientBase } from 'pg'

import type { Json } from '../../../contract/json.ts'
import { writeArray } from './array-text.ts'

const PROBE = 'noetl_parameter_types'

const SYNTAX_ERROR = '42601'

/** Empty for statements that cannot be prepared, such as CALL, and those that are wrong anyway. */
const parameterTypes = async (client: ClientBase, text: string): Promise<string[]> => {
  try {
    await client.query(`prepare ${PROBE} as ${text}`)
  } catch (error) {
    if ((error as { code?: string }).code === SYNTAX_ERROR) return []
    throw error
  }
  const { rows } = await client.query<{ type: string }>({
    text: `select type::text from pg_prepared_statements, unnest(parameter_types) with ordinality as p (type, n)
      where name = '${PROBE}' order by n`,
  })
  await client.query(`deallocate ${PROBE}`)
  return rows.map((row) => row.type)
}

const bindValue = (value: Json, type: string | undefined): string | null => {
  if (value === null || typeof value === 'string') return value
  if (Array.isArray(value) && type?.endsWith('[]') === true) return writeArray(value)
  return JSON.stringify(value)
}

export const bindValues = async (
  client: ClientBase,
  text: string,
  values: readonly Json[],
): Promise<(string | null)[]> => {
  const types = values.some((value) => Array.isArray(value)) ? await parameterTypes(client, text) : []
  return values.map((value, index) => bindValue(value, types[index]))
}
