/** What a call answers: its data, its errors, redirects and limits. Rules are those of http.ts. */
import { describe, expect, test } from 'vitest'

import { systemClock } from '../clock.ts'
import { aCall } from '../test-support.ts'
import { withTimeLimit } from '../time-limit.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { ToolResult } from '../tool.ts'
import { createHttpTool } from './http.ts'
import { dataOf, useHttpTool } from './http/test-support.ts'

const { tool, server, other, call, get, echo } = useHttpTool()

describe('the answer', () => {
  test('carries status, headers, the parsed body twice, the URL and the time (rule 1)', async () => {
    const result = await get('/items?page=1')
    expect(result.outcome).toBe('ok')
    expect(result.data).toEqual({
      status_code: 200,
      headers: expect.objectContaining({ 'content-type': 'application/json' }),
      data: { data: [{ id: 1 }, { id: 2 }, { id: 3 }], meta: { page: 1, hasMore: true } },
      body: dataOf(result).data,
      url: `${server().url}/items?page=1`,
      elapsed: expect.any(Number),
    })
  })

  test('keeps every digit of large integers', async () => {
    expect(dataOf(await get('/ids')).data).toEqual({ id: '9007199254740993', small: 12, price: 1.5 })
  })

  test('is text when it is not JSON, decoded by its charset, and base64 when it is not text', async () => {
    expect(dataOf(await get('/text')).data).toBe('{"not": json')
    expect(dataOf(await get('/latin')).data).toBe('café')
    expect(dataOf(await get('/image')).data).toEqual({ base64: 'iVBOR/8A', size: 6 })
    expect(dataOf(await get('/empty')).data).toBe('')
  })

  test('is text or binary when asked', async () => {
    expect(dataOf(await get('/ids', { response_type: 'text' })).data).toContain('9007199254740993')
    expect(dataOf(await get('/text', { response_type: 'binary' })).data).toMatchObject({ size: 12 })
    expect((await get('/text', { response_type: 'xml' })).error?.code).toBe('CONFIG')
  })

  test.each(['gzip', 'br', 'zstd', 'deflate', 'raw-deflate'])('is decompressed: %s', async (by) => {
    expect(dataOf(await get('/compressed', { params: { by } })).data).toEqual({ by })
  })

  test('joins repeated headers', async () => {
    expect(dataOf(await get('/cookies')).headers['set-cookie']).toBe('a=1, b=2')
  })

  test('of a HEAD request has no body', async () => {
    expect(dataOf(await get('/ids', { method: 'head' }))).toMatchObject({ status_code: 200, data: '' })
  })
})

describe('an error', () => {
  test.each<[number, string, boolean]>([
    [304, 'redirect', false],
    [400, 'client_error', false],
    [401, 'auth', false],
    [403, 'auth', false],
    [404, 'not_found', false],
    [408, 'client_error', true],
    [500, 'server_error', true],
    [503, 'server_error', true],
  ])('by status %i is %s, retryable %s, and keeps the data (rule 2)', async (status, kind, retryable) => {
    const result = await get('/status', { params: { code: status } })
    expect(result).toMatchObject({
      outcome: 'error',
      error: { kind, code: `HTTP_${status}`, retryable, http_status: status },
      data: { status_code: status },
    })
    expect(result.error?.message).toContain(`HTTP ${status} response`)
    if (status !== 304) expect(dataOf(result).data).toEqual({ why: 'asked' })
  })

  test('of a rate limit says when to come back, in seconds', async () => {
    expect((await get('/limited')).error).toMatchObject({
      kind: 'rate_limit',
      code: 'HTTP_429',
      retry_after: 7,
    })
    const date = new Date(Date.now() + 600_000).toUTCString()
    const { error } = await get('/limited', { params: { wait: date } })
    expect(error?.retry_after).toBeGreaterThan(500)
    expect(error?.retry_after).toBeLessThanOrEqual(600)
    expect((await get('/limited', { params: { wait: 'soon' } })).error).not.toHaveProperty('retry_after')
  })

  test('of a server that recovers is gone with the third try', async () => {
    const outcomes = [await get('/flaky'), await get('/flaky'), await get('/flaky')]
    expect(outcomes.map((result) => result.outcome)).toEqual(['error', 'error', 'ok'])
  })

  test.each<[string, string, string, string]>([
    ['refused', 'http://127.0.0.1:1/', 'connection', 'CONN_REFUSED'],
    ['unknown host', 'http://no-such-host.invalid/', 'connection', 'DNS_ERROR'],
  ])('of the connection is classified: %s', async (_name, url, kind, code) => {
    expect((await call({ url })).error).toMatchObject({ kind, code, retryable: true })
  })

  test('of a connection that breaks before or inside the answer is CONN_ERROR', async () => {
    expect((await get('/reset')).error).toMatchObject({
      kind: 'connection',
      code: 'CONN_ERROR',
      retryable: true,
    })
    expect((await get('/cut')).error).toMatchObject({
      kind: 'connection',
      code: 'CONN_ERROR',
      retryable: true,
    })
  })

  test('does not show the query string', async () => {
    const { error } = await call({ url: 'http://127.0.0.1:1/path?api_key=s3cret' })
    expect(error?.message).toContain('GET http://127.0.0.1:1/path')
    expect(error?.message).not.toContain('s3cret')
  })
})

describe('redirects', () => {
  test('are followed up to ten times (rule 3)', async () => {
    const result = await get('/redirect?times=10')
    expect(dataOf(result)).toMatchObject({ status_code: 200, url: `${server().url}/echo` })
    expect((await get('/redirect?times=11')).error).toMatchObject({
      code: 'TOO_MANY_REDIRECTS',
      retryable: false,
    })
  })

  test('are the answer when the call does not follow them', async () => {
    const result = await get('/redirect', { follow_redirects: 'false' })
    expect(result).toMatchObject({ outcome: 'error', error: { code: 'HTTP_302' }, data: { data: 'moved' } })
  })

  test.each<[number, string, string]>([
    [301, 'GET', ''],
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', '{"a":1}'],
    [308, 'POST', '{"a":1}'],
  ])('by %i turn a POST into %s', async (code, method, body) => {
    const seen = await echo({ method: 'POST', json: { a: 1 } }, `/redirect?code=${code}`)
    expect([seen.method, seen.body]).toEqual([method, body])
    expect('content-type' in seen.headers).toBe(method === 'POST')
  })

  test('to another origin lose the credential, those to the same keep it', async () => {
    const config = { auth: { type: 'api_key', key: 'k' }, headers: { cookie: 'c=1', 'x-other': 'o' } }
    expect((await echo(config, '/redirect')).headers).toMatchObject({ 'x-api-key': 'k', cookie: 'c=1' })
    const away = await echo(config, `/redirect?to=${encodeURIComponent(`${other().url}/echo`)}`)
    expect(away.headers).not.toHaveProperty('x-api-key')
    expect(away.headers).not.toHaveProperty('cookie')
    expect(away.headers['x-other']).toBe('o')
  })
})

describe('limits', () => {
  test('a response above the limit fails: announced, streamed or decompressed', async () => {
    const small = createHttpTool({ maxResponseBytes: 1_000_000 })
    const fetched = (path: string): Promise<ToolResult> => small.run(aCall({ url: `${server().url}${path}` }))
    for (const path of ['/huge?bytes=2000000', '/huge?bytes=2000000&announced=1', '/bomb']) {
      expect((await fetched(path)).error).toMatchObject({ code: 'RESULT_TOO_LARGE', retryable: false })
    }
    expect((await fetched('/huge?bytes=900000')).outcome).toBe('ok')
    await small.close()
  })

  test('time that runs out while waiting or reading is CONN_TIMEOUT (rule 4)', async () => {
    for (const path of ['/slow', '/slow-body']) {
      const { error } = await get(path, { timeout: '50ms' })
      expect(error).toMatchObject({
        kind: 'timeout',
        code: 'CONN_TIMEOUT',
        retryable: true,
        message: 'Timed out after 0.05 seconds',
      })
    }
  })

  test('the limit of the command counts too', async () => {
    const options = { limitMs: 50, signal: new AbortController().signal, clock: systemClock }
    const result = await withTimeLimit(options, (signal) =>
      tool.run(aCall({ url: `${server().url}/slow` }, { signal })),
    )
    expect(result.error?.code).toBe('CONN_TIMEOUT')
  })

  test('cancelling closes the connection and answers with the reason', async () => {
    const controller = new AbortController()
    const arrived = server().nextRequest('/slow')
    const running = tool.run(aCall({ url: `${server().url}/slow` }, { signal: controller.signal }))
    const { abandoned } = await arrived
    controller.abort(
      new ToolFailure({ kind: 'cancelled', code: 'CANCELLED', message: 'gone', retryable: false }),
    )
    expect((await running).error?.code).toBe('CANCELLED')
    await abandoned
  })
})

test('an address that is none is told without its user and its query', async () => {
  const { error } = await createHttpTool().run(aCall({ url: 'ftp://me:hunter22@host/path?key=hunter22' }))
  expect(error?.message).toBe('url must start with http:// or https://, not "ftp://host/path"')
})
