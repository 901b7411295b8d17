/** Connections that calls share. */
import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { timeoutFailure } from '../../time-limit.ts'
import { createPostgresTool } from '../postgres.ts'
import { usePostgresTool } from './test-support.ts'

const { call } = usePostgresTool()

describe('connections', () => {
  test('are shared by calls with the same credential, up to the size of the pool', async () => {
    const own = createPostgresTool()
    const config = { query: 'select pg_backend_pid() as pid, pg_sleep(0.02)', pool: { max_size: 2 } }
    const results = await Promise.all(Array.from({ length: 8 }, () => own.run(call(config))))
    const pids = results.map((result) => ((result.data as JsonObject)['rows'] as { pid: number }[])[0]?.pid)
    expect(new Set(pids).size).toBe(2)
    expect(own.connectionCount()).toBe(2)
    await own.close()
    expect(own.connectionCount()).toBe(0)
  })

  test('are not waited for by who gives up', async () => {
    const own = createPostgresTool()
    const controller = new AbortController()
    const pool = { max_size: 1 }
    const first = own.run(call({ query: 'select pg_sleep(0.2)', pool }))
    const second = own.run(call({ query: 'select 2', pool }, { signal: controller.signal }))
    const third = own.run(call({ query: 'select 3 as a', pool }))
    controller.abort(timeoutFailure(5))
    expect((await second).error?.kind).toBe('db_timeout')
    expect((await first).outcome).toBe('ok')
    expect((await third).data).toMatchObject({ rows: [{ a: 3 }] })
    await own.close()
  })
})
