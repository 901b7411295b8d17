/**
 * The API described by itself: as OpenAPI for tools, as a page for people.
 *
 * Both are made at the first request and kept; they change only with the program.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { anyObject } from '../../contract/answer-parts.ts'
import { buildApiDocument } from '../api-document/document.ts'
import { renderPage } from '../api-document/page.ts'
import { PAGE_SCRIPT } from '../api-document/page-script.ts'
import type { ServerContext } from '../app.ts'
import { declaredRoutes, route } from '../route.ts'

const common = { method: 'GET', tag: 'server', access: 'public' } as const

export const apiDocumentRoutes = (app: FastifyInstance, { version }: ServerContext): void => {
  const document = once(() => buildApiDocument(declaredRoutes(app), { version }))
  const json = once(() => JSON.stringify(document()))
  const page = once(() => renderPage(document()))

  route(
    app,
    {
      ...common,
      url: '/api/openapi.json',
      name: 'getApiDocument',
      summary: 'This API as an OpenAPI document',
      answer: anyObject.meta({ id: 'OpenApiDocument', description: 'OpenAPI 3.1' }),
    },
    ({ reply }) => reply.type('application/json; charset=utf-8').send(json()),
  )

  route(
    app,
    {
      ...common,
      url: '/api/docs',
      name: 'getApiPage',
      summary: 'This API as a page to read',
      answerType: 'text/html',
    },
    ({ reply }) =>
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', POLICY)
        .header('x-content-type-options', 'nosniff')
        .send(page()),
  )
}

/** Nothing from elsewhere, and no script but the page's own. */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src 'sha256-${createHash('sha256').update(PAGE_SCRIPT).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
