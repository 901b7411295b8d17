/**
 * The playbook language as a service: its JSON Schema for editors, and a check of a playbook without registering it.
 *
 * 1. The verdict is the one that registration would give: the same reading of the text, the same parser.
 * 2. A playbook with problems is a successful answer; only a request without a playbook is refused.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { storableText } from '../../lib/exact-json.ts'
import { parsePlaybook } from '../../playbook/parse.ts'
import type { Diagnostic } from '../../playbook/problem.ts'
import { PLAYBOOK_SCHEMA } from '../../playbook/schema/playbook-schema.ts'
import { schemaText } from '../../playbook/schema/schema-text.ts'
import { check } from '../http.ts'
import { decodeContent } from '../register.ts'

const ValidateRequest = z.object({
  content: z.string({ error: "'content' must be the YAML text of the playbook, or base64 of it" }),
})

interface Verdict {
  readonly valid: boolean
  /** What refuses the playbook. */
  readonly problems: readonly Diagnostic[]
  /** What is worth a look. */
  readonly warnings: readonly Diagnostic[]
  /** Only for a valid playbook. */
  readonly playbook?: { readonly name: string; readonly path: string; readonly steps: number }
}

export const playbookLanguageRoutes = (app: FastifyInstance): void => {
  const schema = schemaText(PLAYBOOK_SCHEMA)
  const etag = `"${createHash('sha256').update(schema).digest('base64url')}"`

  app.get('/api/playbook.schema.json', async (request, reply) => {
    // An editor asks again each time it starts; the answer rarely changes.
    void reply.header('etag', etag).header('cache-control', 'no-cache')
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.type('application/schema+json').send(schema)
  })

  app.post('/api/catalog/playbooks/validate', (request) =>
    validate(check(ValidateRequest, request.body).content),
  )
}

/** True when the client already holds this version, whatever proxies made of its tag. */
const isKnown = (header: string | undefined, etag: string): boolean =>
  (header ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag)

const validate = (content: string): Verdict => {
  const result = parsePlaybook(storableText(decodeContent(content)))
  if (!result.ok) {
    const problems = result.problems.filter((each) => each.severity === 'error')
    return { valid: false, problems, warnings: result.problems.filter((each) => each.severity === 'warning') }
  }
  const { name, path, steps } = result.playbook
  return {
    valid: true,
    problems: [],
    warnings: result.warnings,
    playbook: { name, path, steps: steps.length },
  }
}
