/** The credential of a call as headers. */
import { describe, expect, test } from 'vitest'

import type { JsonObject } from '../../../contract/json.ts'
import { dataOf, useHttpTool } from './test-support.ts'

const { server, call, get, echo } = useHttpTool()

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
    const result = await call({ url: `${server().url}/echo`.replace('//', '//u:p@') })
    expect(dataOf(result).data['headers']).toMatchObject({ authorization: basic })
    expect(dataOf(result).url).toBe(`${server().url}/echo`)
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
