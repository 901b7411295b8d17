import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { installErrorHandlers, installJsonParser } from '../http.ts'
import { playbookLanguageRoutes } from './playbook-language.ts'

const createApp = (): FastifyInstance => {
  const app = Fastify({ logger: false })
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  installJsonParser(app)
  installErrorHandlers(app, log)
  playbookLanguageRoutes(app)
  return app
}

const VALID = `apiVersion: noetl.io/v2
kind: Playbook
metadata: { name: hello, path: demo/hello }
workflow:
  - step: start
    next: done
  - step: done
    tool: { kind: noop }
`

const validate = async (payload: object) => {
  const answer = await createApp().inject({ method: 'POST', url: '/api/catalog/playbooks/validate', payload })
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() }
}

describe('GET /api/playbook.schema.json', () => {
  const get = (headers: Record<string, string> = {}) =>
    createApp().inject({ method: 'GET', url: '/api/playbook.schema.json', headers })

  it('answers the schema of the repository', async () => {
    const answer = await get()
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/schema\+json/)
    const published = new URL('../../../docs/playbook.schema.json', import.meta.url)
    expect(answer.body).toBe(readFileSync(published, 'utf8'))
  })

  it('spares a client that has it already', async () => {
    const etag = (await get()).headers.etag ?? ''
    expect(etag).toMatch(/^"[\w-]{20,}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await get({ 'if-none-match': known })
      expect([answer.statusCode, answer.body, answer.headers.etag]).toEqual([304, '', etag])
    }
    expect((await get({ 'if-none-match': '"other"' })).statusCode).toBe(200)
  })
})

describe('POST /api/catalog/playbooks/validate', () => {
  it('describes a valid playbook, given as text or base64', async () => {
    const expected = {
      status: 200,
      body: {
        valid: true,
        problems: [],
        errors: [],
        warnings: [],
        playbook: { name: 'hello', path: 'demo/hello', steps: 2 },
      },
    }
    expect(await validate({ content: VALID })).toEqual(expected)
    expect(await validate({ content: Buffer.from(VALID).toString('base64') })).toEqual(expected)
  })

  it('2: lists the problems and the warnings of another one apart, with their places', async () => {
    const { status, body } = await validate({ content: VALID.replace('next: done', 'next: dne\n    foo: 1') })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      valid: false,
      problems: [{ severity: 'error', code: 'NEXT_UNKNOWN', line: 6, column: 11, path: 'workflow[0].next' }],
      errors: [expect.stringContaining('dne') as string],
      warnings: [{ severity: 'warning', code: 'unknown-key', line: 7 }],
    })
    expect(body).not.toHaveProperty('playbook')
  })

  it('keeps warnings of a valid playbook', async () => {
    const { body } = await validate({ content: `${VALID}vars: {}\n` })
    expect(body).toMatchObject({ valid: true, problems: [], warnings: [{ code: 'ignored-key' }] })
  })

  it.each([['a: [1'], [''], ['just text'], ['\0']])(
    '2: answers for %j, which is no playbook at all',
    async (content) => {
      const { status, body } = await validate({ content })
      expect(status).toBe(200)
      expect(body).toMatchObject({ valid: false, problems: [{ code: 'PARSE' }] })
    },
  )

  it.each([[{}], [{ content: null }], [{ content: 5 }], [[]]])('refuses the request %j', async (payload) => {
    expect(await validate(payload)).toMatchObject({ status: 422, body: { code: 'invalid', status: 422 } })
  })
})
