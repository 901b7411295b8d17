/** What a declaration does to a request; numbers are those of `route.ts`. */
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { body } from '../contract/api-body.ts'
import { createErrorHandler, installJsonParser } from './http.ts'
import type { RouteSpec } from './route.ts'
import { declaredRoutes, route } from './route.ts'
import { silentLog } from '../worker/log.ts'

const createServer = () => {
  const app = Fastify()
  installJsonParser(app)
  app.setErrorHandler(createErrorHandler(silentLog))
  return app
}

const spec = { method: 'POST', url: '/things', tag: 'test', summary: 'Do it', access: 'public' } as const

describe('a handler', () => {
  const query = z.object({ limit: z.coerce.number().int().default(7) })

  test('gets what the schemas made of query and body (1)', async () => {
    const app = createServer()
    const request = body({ name: z.string().trim() }, { title: 'name' })
    route(app, { ...spec, query, body: request }, (call) => ({ query: call.query, body: call.body }))
    const answer = await app.inject({
      method: 'POST',
      url: '/things?limit=3&other=1',
      payload: { title: ' a ' },
    })
    expect(answer.json()).toEqual({ query: { limit: 3 }, body: { name: 'a' } })
  })

  test('gets nothing that is not declared (2)', async () => {
    const app = createServer()
    route(app, spec, (call) => ({ query: call.query ?? null, body: call.body ?? null }))
    const answer = await app.inject({ method: 'POST', url: '/things?limit=3', payload: { a: 1 } })
    expect(answer.json()).toEqual({ query: null, body: null })
  })

  test('is not called for a request that does not fit', async () => {
    const app = createServer()
    route(app, { ...spec, body: z.object({ a: z.string() }) }, () => ({ called: true }))
    const answer = await app.inject({ method: 'POST', url: '/things', payload: { a: 1 } })
    expect(answer.statusCode).toBe(422)
    expect(answer.json()).toMatchObject({
      error: expect.stringMatching(/^a: /) as string,
      code: 'invalid',
      details: { issues: [{ path: 'a' }] },
    })
  })

  test('may have its query refused with another code', async () => {
    const app = createServer()
    route(app, { ...spec, query, queryProblem: 'bad_request' }, () => ({}))
    const answer = await app.inject({ method: 'POST', url: '/things?limit=x' })
    expect(answer.json()).toMatchObject({ status: 400, code: 'bad_request' })
  })

  test('is kept from bodies above the limit of its route', async () => {
    const app = createServer()
    route(app, { ...spec, bodyLimit: 10 }, () => ({}))
    const answer = await app.inject({ method: 'POST', url: '/things', payload: { text: 'too long' } })
    expect(answer.json()).toMatchObject({ status: 413, code: 'too_large' })
  })
})

test('declarations are known by the server they were made for (3)', () => {
  const [one, other] = [createServer(), createServer()]
  route(one, spec, () => ({}))
  route(one, { ...spec, method: 'GET' }, () => ({}))
  expect(declaredRoutes(one).map(({ method }: RouteSpec) => method)).toEqual(['POST', 'GET'])
  expect(declaredRoutes(other)).toEqual([])
})
