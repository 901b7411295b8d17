/** How a call ends that runs out of time or is not wanted any more. Rules are those of postgres.ts. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { timeoutFailure } from '../../time-limit.ts'
import { ToolFailure } from '../../tool-failure.ts'
import { connectionSettings } from './connection-settings.ts'
import { usePostgresTool } from './test-support.ts'

const { tool, url, call, run, value } = usePostgresTool()

describe('the end', () => {
  /** How many connections to this database run this very statement. */
  const runningCount = (statement: string) => (): Promise<unknown> =>
    value(
      `(select count(*)::int from pg_stat_activity
        where datname = current_database() and state = 'active' and query = '${statement}')`,
    )
  const sleepers = runningCount('select pg_sleep(61)')
  /** Longer than any machine needs, shorter than anybody sleeps here. */
  const timeout = 25_000
  const SLEEP = `select 'first' as a; select pg_sleep(61)`

  test.each<[string, ToolFailure, JsonObject]>([
    [
      'timeout',
      timeoutFailure(20),
      { kind: 'db_timeout', code: 'PG_57014', sqlstate: '57014', retryable: true },
    ],
    [
      'cancellation',
      new ToolFailure({ kind: 'cancelled', code: 'CANCELLED', message: 'gone', retryable: false }),
      { kind: 'cancelled', code: 'CANCELLED' },
    ],
  ])('by %s stops the statement on the server (rule 3)', async (_name, reason, expected) => {
    const controller = new AbortController()
    const running = tool.run(call({ query: SLEEP }, { signal: controller.signal }))
    await expect.poll(sleepers, { timeout }).toBe(1)
    controller.abort(reason)
    const result = await running
    expect(result).toMatchObject({
      error: expected,
      data: { command_0: { row_count: 1 }, failed_command: 1 },
    })
    await expect.poll(sleepers, { timeout }).toBe(0)
  })

  test('comes from the server when the worker cannot tell it', async () => {
    expect((await run({ query: SLEEP, timeout: '50ms' })).error?.code).toBe('PG_57014')
  })

  test('comes also when the server does not answer any more', async () => {
    const { host, port: serverPort } = await connectionSettings({ url: url() })
    const server = host.startsWith('/')
      ? { path: `${host}/.s.PGSQL.${serverPort}` }
      : { host, port: serverPort }
    const sockets: Socket[] = []
    let frozen = false
    const proxy = createServer((socket) => {
      if (frozen) return
      const upstream = connect(server)
      sockets.push(socket, upstream)
      for (const each of [socket, upstream]) each.on('error', () => undefined)
      socket.pipe(upstream).pipe(socket)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const controller = new AbortController()
    const config = { query: 'select pg_sleep(62)', host: '127.0.0.1', port }
    const running = tool.run(call(config, { signal: controller.signal }))
    await expect.poll(runningCount(config.query), { timeout }).toBe(1)
    frozen = true
    controller.abort(timeoutFailure(20))
    expect((await running).error?.kind).toBe('db_timeout')
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })

  test('comes before the start for a call that is not wanted any more', async () => {
    const result = await tool.run(call({ query: SLEEP }, { signal: AbortSignal.abort(timeoutFailure(20)) }))
    expect(result.error?.kind).toBe('db_timeout')
  })
})
