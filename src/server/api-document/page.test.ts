import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { declaredRoutes } from '../route.ts'
import type { RouteSpec } from '../route.ts'
import { buildApiDocument } from './document.ts'
import { html } from './html.ts'
import { renderPage } from './page.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { createUndecidedApp } from './testing/undecided-app.ts'

const app = createUndecidedApp()

const pageOf = (specs: readonly RouteSpec[]): string => renderPage(buildApiDocument(specs, { version: '1' }))

const route = (spec: Partial<RouteSpec>): RouteSpec => ({
  method: 'GET',
  url: '/api/things',
  tag: 'server',
  summary: 'List things',
  access: 'viewer',
  ...spec,
})

describe('the page of the whole API', () => {
  const page = pageOf(declaredRoutes(app))

  test('has every operation and leads to it', () => {
    for (const { name } of declaredRoutes(app)) {
      if (name === undefined) continue
      expect(page).toContain(`id="${name}"`)
    }
  })

  test('needs nothing from elsewhere', () => {
    expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    expect(page).not.toMatch(/@import|url\(/)
  })

  test('has no value that got lost on the way', () => {
    expect(page).not.toMatch(/\[object Object\]|>undefined<|\bNaN\b/)
  })
})

describe('an operation on the page', () => {
  test('is called with what it needs', () => {
    const page = pageOf([
      route({
        method: 'POST',
        url: '/api/things/:thing_id',
        body: z.object({ path: z.string(), note: z.string().optional() }),
        query: z.object({ ref: z.string() }),
      }),
    ])
    expect(page).toContain('curl -X POST')
    expect(page).toContain('/api/things/338921234567890123?ref=')
    expect(page).toContain('authorization: Bearer $NOETL_TOKEN')
    expect(page).toContain('&quot;path&quot;: &quot;examples/hello&quot;')
    expect(page).not.toContain('&quot;note&quot;')
  })

  test('shows ids with all their digits', () => {
    const answer = z.object({ id: z.int().meta({ format: 'int64' }) })
    expect(pageOf([route({ answer })])).toContain('&quot;id&quot;: 338921234567890123')
  })

  test('keeps text from becoming markup', () => {
    const page = pageOf([route({ summary: 'List <script>alert(1)</script> & `<b>`' })])
    expect(page).not.toContain('<script>alert')
    expect(page).toContain('List &lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>&lt;b&gt;</code>')
  })
})

test('parts of a template are escaped unless they are HTML', () => {
  expect(html`<p>${['<', html`<b>${'"'}</b>`, null, false, 7]}</p>`.html).toBe('<p>&lt;<b>&quot;</b>7</p>')
})

describe('the routes', () => {
  test('answer the document as JSON', async () => {
    const answer = await app.inject('/api/openapi.json')
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    expect(answer.json()).toMatchObject({ openapi: '3.1.1', info: { version: '0.0.0' } })
  })

  test('answer the page, which may run its own script and nothing else', async () => {
    const answer = await app.inject('/api/docs')
    expect(answer.headers['content-type']).toMatch(/^text\/html/)
    const hash = createHash('sha256').update(PAGE_SCRIPT).digest('base64')
    expect(answer.headers['content-security-policy']).toContain(`script-src 'sha256-${hash}'`)
    expect(answer.body).toContain(`<script>${PAGE_SCRIPT}</script>`)
  })
})
