/** The HTTP tool and two servers for it, for a whole test file. */
import { afterAll, beforeAll, expect } from 'vitest'

import type { Json, JsonObject } from '../../../contract/json.ts'
import { aCall } from '../../test-support.ts'
import type { ToolResult } from '../../tool.ts'
import { createHttpTool } from '../http.ts'
import { startTestServer, type TestServer } from './test-server.ts'

interface HttpData {
  status_code: number
  headers: Record<string, string>
  data: Record<string, Json>
  body: Json
  url: string
  elapsed: number
}

export const dataOf = (result: ToolResult): HttpData => result.data as unknown as HttpData

/** A request as the server saw it. */
interface Echo {
  method: string
  search: string
  query: Record<string, string>
  headers: Record<string, string>
  body: string
}

/** The servers exist while tests run. */
export const useHttpTool = () => {
  let server: TestServer
  let other: TestServer
  const tool = createHttpTool()

  beforeAll(async () => {
    ;[server, other] = await Promise.all([startTestServer(), startTestServer()])
  })
  afterAll(async () => {
    await tool.close()
    await Promise.all([server.close(), other.close()])
  })

  const call = (config: JsonObject): Promise<ToolResult> => tool.run(aCall(config))
  const get = (path: string, config: JsonObject = {}): Promise<ToolResult> =>
    call({ url: `${server.url}${path}`, ...config })
  const echo = async (config: JsonObject, path = '/echo'): Promise<Echo> => {
    const result = await get(path, config)
    expect(result.error).toBeUndefined()
    return dataOf(result).data as unknown as Echo
  }
  return { tool, server: () => server, other: () => other, call, get, echo }
}
