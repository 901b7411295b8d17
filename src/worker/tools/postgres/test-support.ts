/** The PostgreSQL tool on an empty database of its own, for a whole test file. */
import { afterAll, beforeAll, expect } from 'vitest'

import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres.ts'
import type { Json, JsonObject } from '../../../contract/json.ts'
import { aCall } from '../../test-support.ts'
import type { ToolCall, ToolResult } from '../../tool.ts'
import { createPostgresTool } from '../postgres.ts'

/** The database exists while tests run. */
export const usePostgresTool = () => {
  let database: TestDatabase
  const tool = createPostgresTool()

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true })
  })
  afterAll(async () => {
    await tool.close()
    await database.drop()
  })

  const call = (config: JsonObject, over: Parameters<typeof aCall>[1] = {}): ToolCall =>
    aCall({ connection_string: database.url, ...config }, over)
  const run = (config: JsonObject): Promise<ToolResult> => tool.run(call(config))
  /** The data of a call that succeeds. */
  const ok = async (config: JsonObject): Promise<JsonObject> => {
    const result = await run(config)
    expect(result.error).toBeUndefined()
    return result.data as JsonObject
  }
  const rows = async (query: string, params: Json = []): Promise<Json> =>
    (await ok({ query, params }))['rows'] as Json
  const value = async (expression: string): Promise<unknown> =>
    ((await rows(`select ${expression} as v`)) as { v: unknown }[])[0]?.v
  return { tool, url: () => database.url, call, run, ok, rows, value }
}
