/**
 * The playbook language as a service: its JSON Schema for editors, and a check of a playbook without registering it.
 *
 * 1. The verdict is the one that registration would give: the same reading of the text, the same parser.
 * 2. A playbook with problems is a successful answer; only a request without a playbook is refused.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { anyObject } from '../../contract/answer-parts.ts'
import { ValidateRequest, Verdict as VerdictAnswer } from '../../contract/api-catalog.ts'
import { storableText } from '../../lib/exact-json.ts'
import { parsePlaybook } from '../../playbook/parse.ts'
import type { Diagnostic } from '../../playbook/problem.ts'
import { PLAYBOOK_SCHEMA } from '../../playbook/schema/playbook-schema.ts'
import { schemaText } from '../../playbook/schema/schema-text.ts'
import { decodeContent } from '../register.ts'
import { route } from '../route.ts'

interface Verdict {
  readonly valid: boolean
  /** What refuses the playbook. */
  readonly problems: readonly Diagnostic[]
  /** Their messages. */
  readonly errors: readonly string[]
  /** What is worth a look. */
  readonly warnings: readonly Diagnostic[]
  /** Only for a valid playbook. */
  readonly playbook?: { readonly name: string; readonly path: string; readonly steps: number }
}

const tag = 'playbook language'

export const playbookLanguageRoutes = (app: FastifyInstance): void => {
  const schema = schemaText(PLAYBOOK_SCHEMA)
  const etag = `"${createHash('sha256').update(schema).digest('base64url')}"`

  route(
    app,
    {
      method: 'GET',
      url: '/api/playbook.schema.json',
      name: 'getPlaybookSchema',
      tag,
      access: 'public',
      summary: 'The JSON Schema of playbooks, for editors',
      answer: anyObject,
      answerType: 'application/schema+json',
      otherAnswers: { 304: null },
    },
    async ({ request, reply }) => {
      // An editor asks again each time it starts; the answer rarely changes.
      void reply.header('etag', etag).header('cache-control', 'no-cache')
      if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type('application/schema+json').send(schema)
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/playbooks/validate',
      name: 'validatePlaybook',
      tag,
      access: 'viewer',
      summary: 'Check a playbook without registering it',
      description: 'A playbook with problems is a successful answer.',
      body: ValidateRequest,
      answer: VerdictAnswer,
    },
    ({ body }) => validate(body.content),
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
    const warnings = result.problems.filter((each) => each.severity === 'warning')
    return { valid: false, problems, errors: problems.map(({ message }) => message), warnings }
  }
  const { name, path, steps } = result.playbook
  return {
    valid: true,
    problems: [],
    errors: [],
    warnings: result.warnings,
    playbook: { name, path, steps: steps.length },
  }
}
