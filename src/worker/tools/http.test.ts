import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Json, JsonObject } from '../../contract/json.ts'
import { systemClock } from '../clock.ts'
import { withTimeLimit } from '../time-limit.ts'
import { aCall } from '../test-support.ts'
import { ToolFailure } from '../tool-failure.ts'
import type { ToolResult } from '../tool.ts'
import { createHttpTool } from './http.ts'
import { startTestServer, type TestServer } from './http/test-server.ts'

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

interface HttpData {
  status_code: number
  headers: Record<string, string>
  data: Record<string, Json>
  body: Json
  url: string
  elapsed: number
}
const dataOf = (result: ToolResult): HttpData => result.data as unknown as HttpData
interface Echo {
  method: string
  search: string
  query: Record<string, string>
  headers: Record<string, string>
  body: string
}
const echo = async (config: JsonObject, path = '/echo'): Promise<Echo> => {
  const result = await get(path, config)
  expect(result.error).toBeUndefined()
  return dataOf(result).data as unknown as Echo
}

describe('the answer', () => {
  test('carries status, headers, the parsed body twice, the URL and the time (rule 1)', async () => {
    const result = await get('/items?page=1')
    expect(result.outcome).toBe('ok')
    expect(result.data).toEqual({
      status_code: 200,
      headers: expect.objectContaining({ 'content-type': 'application/json' }),
      data: { data: [{ id: 1 }, { id: 2 }, { id: 3 }], meta: { page: 1, hasMore: true } },
      body: dataOf(result).data,
      url: `${server.url}/items?page=1`,
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

describe('the request', () => {
  test('drops null headers and params and turns other values into text', async () => {
    const seen = await echo(
      {
        headers: { 'X-Number': 5, 'X-Flag': true, 'X-None': null, 'X-List': [1, 2] },
        params: { page: 2, all: false, none: null, filter: { a: 1 }, q: 'a b&c' },
      },
      '/echo?kept=a%20b',
    )
    expect(seen.headers).toMatchObject({ 'x-number': '5', 'x-flag': 'true', 'x-list': '[1,2]' })
    expect(seen.headers).not.toHaveProperty('x-none')
    expect(seen.search.startsWith('?kept=a%20b&')).toBe(true)
    expect(seen.query).toEqual({ kept: 'a b', page: '2', all: 'false', filter: '{"a":1}', q: 'a b&c' })
  })

  test('accepts `endpoint`, lower-case methods and a query as text', async () => {
    const result = await call({ endpoint: `${server.url}/echo`, method: 'delete', params: 'a=1' })
    expect(dataOf(result).data).toMatchObject({ method: 'DELETE', query: { a: '1' } })
  })

  const JSON_TYPE = 'application/json'
  const FORM_TYPE = 'application/x-www-form-urlencoded'
  test.each<[string, JsonObject, string, string | undefined]>([
    ['json', { json: { a: [1, null] } }, '{"a":[1,null]}', JSON_TYPE],
    [
      'json that is JSON text already',
      { json: '{"id": 9007199254740993}' },
      '{"id": 9007199254740993}',
      JSON_TYPE,
    ],
    ['json of a plain text', { json: 'hi' }, '"hi"', JSON_TYPE],
    ['payload', { payload: { a: 1 } }, '{"a":1}', JSON_TYPE],
    ['a structure in body', { body: { a: 1 } }, '{"a":1}', JSON_TYPE],
    ['text in body', { body: 'raw {text}' }, 'raw {text}', undefined],
    ['form', { form: { a: 'x y', b: [1, 2], c: null } }, 'a=x+y&b=1&b=2', FORM_TYPE],
    ['data', { data: { a: 1 } }, '{"a":1}', JSON_TYPE],
    ['data as a form', { data: { a: 1 }, headers: { 'content-type': FORM_TYPE } }, 'a=1', FORM_TYPE],
    ['data with a body', { data: { body: { a: 1 } } }, '{"a":1}', JSON_TYPE],
    ['an empty body beside another', { data: {}, json: { a: 1 } }, '{"a":1}', JSON_TYPE],
    [
      'an own content type',
      { json: {}, headers: { 'Content-Type': 'application/ld+json' } },
      '{}',
      'application/ld+json',
    ],
  ])('sends %s', async (_name, config, body, type) => {
    const seen = await echo({ method: 'POST', ...config })
    expect(seen.body).toBe(body)
    expect(seen.headers['content-type']).toBe(type)
    expect(seen.headers['content-length']).toBe(String(body.length))
  })

  test('splits `data` into query and body, and takes it as the query of a GET', async () => {
    const posted = await echo({ method: 'POST', data: { query: { a: 1 }, body: { b: 2 } } })
    expect([posted.query, posted.body]).toEqual([{ a: '1' }, '{"b":2}'])
    const got = await echo({ data: { a: 1 } })
    expect([got.query, got.body]).toEqual([{ a: '1' }, ''])
  })

  test('sends files and fields as multipart', async () => {
    const seen = await echo({
      method: 'POST',
      form: { title: 'T' },
      files: {
        notes: 'plain',
        'we"ird': { filename: 'a.bin', content_base64: 'aGk=', content_type: 'application/x-thing' },
      },
    })
    const boundary = /boundary=(.+)$/.exec(seen.headers['content-type'] ?? '')?.[1] as string
    expect(seen.body.split(`--${boundary}`)).toEqual([
      '',
      '\r\nContent-Disposition: form-data; name="title"\r\n\r\nT\r\n',
      '\r\nContent-Disposition: form-data; name="notes"; filename="notes"\r\nContent-Type: application/octet-stream\r\n\r\nplain\r\n',
      '\r\nContent-Disposition: form-data; name="we%22ird"; filename="a.bin"\r\nContent-Type: application/x-thing\r\n\r\nhi\r\n',
      '--\r\n',
    ])
  })

  test.each<[string, JsonObject]>([
    ['no url', {}],
    ['a url without a scheme', { url: 'example.com/x' }],
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['two bodies', { url: 'http://x', json: { a: 1 }, form: { a: 1 } }],
    ['a header that breaks its line', { url: 'http://127.0.0.1:1', headers: { a: 'x\r\nb: y' } }],
    ['a strange method', { url: 'http://x', method: 'GET /' }],
    ['a flag that is none', { url: 'http://x', follow_redirects: 'perhaps' }],
    ['headers that are a list', { url: 'http://x', headers: ['a'] }],
  ])('is refused with a config error: %s', async (_name, config) => {
    expect((await call(config)).error).toMatchObject({ kind: 'config', code: 'CONFIG', retryable: false })
  })
})

describe('auth', () => {
  const basic = `Basic ${Buffer.from('u:p').toString('base64')}`
  test.each<[string, JsonObject, string, string]>([
    ['bearer', { type: 'bearer', token: 't' }, 'authorization', 'Bearer t'],
    ['bearer by access_token alone', { access_token: 't' }, 'authorization', 'Bearer t'],
    ['basic', { type: 'basic', username: 'u', password: 'p' }, 'authorization', basic],
    [
      'basic of a stored credential',
      { type: 'basic', data: { user: 'u', db_password: 'p' } },
      'authorization',
      basic,
    ],
    ['api_key', { type: 'api_key', key: 'k' }, 'x-api-key', 'k'],
    ['api_key in its header', { type: 'api_key', api_key: 'k', header: 'X-Mine' }, 'x-mine', 'k'],
  ])('becomes a header: %s', async (_name, auth, header, value) => {
    expect((await echo({ auth })).headers[header]).toBe(value)
  })

  test('is overruled by a header of the call, and read from the URL', async () => {
    const own = await echo({ auth: { token: 't' }, headers: { authorization: 'Mine' } })
    expect(own.headers['authorization']).toBe('Mine')
    const result = await call({ url: `${server.url}/echo`.replace('//', '//u:p@') })
    expect(dataOf(result).data['headers']).toMatchObject({ authorization: basic })
    expect(dataOf(result).url).toBe(`${server.url}/echo`)
  })

  test('that is incomplete, unknown or unresolved is an error of its own', async () => {
    expect((await get('/echo', { auth: { type: 'basic' } })).error?.code).toBe('CREDENTIAL_INCOMPLETE')
    expect((await get('/echo', { auth: { type: 'gcp_adc' } })).error?.kind).toBe('config')
    expect((await get('/echo', { credential: 'prod' })).error).toMatchObject({
      kind: 'auth',
      code: 'CREDENTIAL_NOT_FOUND',
    })
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
    const date = new Date(Date.now() + 60_000).toUTCString()
    const { error } = await get('/limited', { params: { wait: date } })
    expect(error?.retry_after).toBeGreaterThan(55)
    expect(error?.retry_after).toBeLessThanOrEqual(60)
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
    expect(dataOf(result)).toMatchObject({ status_code: 200, url: `${server.url}/echo` })
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
    const away = await echo(config, `/redirect?to=${encodeURIComponent(`${other.url}/echo`)}`)
    expect(away.headers).not.toHaveProperty('x-api-key')
    expect(away.headers).not.toHaveProperty('cookie')
    expect(away.headers['x-other']).toBe('o')
  })
})

describe('limits', () => {
  test('a response above the limit fails: announced, streamed or decompressed', async () => {
    const small = createHttpTool({ maxResponseBytes: 1_000_000 })
    const fetched = (path: string): Promise<ToolResult> => small.run(aCall({ url: `${server.url}${path}` }))
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
      tool.run(aCall({ url: `${server.url}/slow` }, { signal })),
    )
    expect(result.error?.code).toBe('CONN_TIMEOUT')
  })

  test('cancelling closes the connection and answers with the reason', async () => {
    const before = server.abandoned()
    const controller = new AbortController()
    const running = tool.run(aCall({ url: `${server.url}/slow` }, { signal: controller.signal }))
    await expect.poll(() => server.requests.get('/slow') ?? 0).toBeGreaterThan(2)
    controller.abort(
      new ToolFailure({ kind: 'cancelled', code: 'CANCELLED', message: 'gone', retryable: false }),
    )
    expect((await running).error?.code).toBe('CANCELLED')
    await expect.poll(() => server.abandoned()).toBeGreaterThan(before)
  })
})

test('pages of a list are read one after the other over one connection', async () => {
  const fresh = createHttpTool()
  const before = server.connections()
  const ids: Json[] = []
  let after: Json = 0
  while (after !== null) {
    const result = await fresh.run(aCall({ url: `${server.url}/cursor`, params: { after } }))
    const page = dataOf(result).data as { items: { id: number }[]; next: Json }
    ids.push(...page.items.map((item) => item.id))
    after = page.next
  }
  expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(server.connections() - before).toBe(1)
  await fresh.close()
})

test('a kept connection that the server closed is replaced without notice', async () => {
  const fresh = createHttpTool()
  const results = [1, 2].map(() => () => fresh.run(aCall({ url: `${server.url}/close-once` })))
  expect(dataOf(await results[0]!()).data).toEqual({ seen: 1 })
  expect(dataOf(await results[1]!()).data).toEqual({ seen: 3 })
  await fresh.close()
})

test('a proxy of the environment is used, except for this machine', async () => {
  const behind = createHttpTool({ env: { HTTP_PROXY: other.url } })
  const through = await behind.run(aCall({ url: 'http://far.example/ids' }))
  expect(dataOf(through).data).toMatchObject({ small: 12 })
  const before = other.requests.get('/ids')
  expect((await behind.run(aCall({ url: `${server.url}/ids` }))).outcome).toBe('ok')
  expect(other.requests.get('/ids')).toBe(before)
  await behind.close()
})

test('an address that is none is told without its user and its query', async () => {
  const { error } = await createHttpTool().run(aCall({ url: 'ftp://me:hunter22@host/path?key=hunter22' }))
  expect(error?.message).toBe('url must start with http:// or https://, not "ftp://host/path"')
})
