/** What is sent: URL, headers and bodies, from the many spellings of a tool block. */
import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { dataOf, useHttpTool } from './test-support.ts'

const { server, call, echo } = useHttpTool()

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
    const result = await call({ endpoint: `${server().url}/echo`, method: 'delete', params: 'a=1' })
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
