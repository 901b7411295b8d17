/** What a form for the workload of a playbook needs to know. */
import type { FastifyInstance } from 'fastify'
import { UiSchemaAnswer, UiSchemaQuery } from '../../contract/api-catalog.ts'
import { ProblemError } from '../../contract/problem.ts'
import { uiSchemaOf } from '../../playbook/ui-schema.ts'
import type { ServerContext } from '../app.ts'
import { parseVersion } from '../parse-version.ts'
import { route } from '../route.ts'
import { entryOfPath } from './catalog.ts'

const SUFFIX = '/ui_schema'

export const catalogUiSchemaRoutes = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      // Paths have any number of segments.
      url: '/api/catalog/*',
      name: 'getUiSchema',
      tag: 'catalog',
      access: 'viewer',
      summary: 'Describe the workload of a playbook as fields of a form',
      description:
        'At `/api/catalog/{path}/ui_schema`. Comments on the lines of the workload refine it: `# ui:secret`, `# ui:enum=[a, b]`, `# ui:credential=glob`, `# ui:description=text`.',
      query: UiSchemaQuery,
      answer: UiSchemaAnswer,
      problems: ['not_found'],
    },
    async ({ request, reply, query }) => {
      const tail = (request.params as { '*': string })['*']
      if (!tail.endsWith(SUFFIX)) return reply.callNotFound()
      const path = tail.slice(0, -SUFFIX.length)
      if (path === '') throw new ProblemError('invalid', 'The path is empty')
      const row = await entryOfPath(core.shards.cluster, path, parseVersion(query.version))
      const { title, description, exposedInUi, fields } = uiSchemaOf(row.content)
      return {
        path: row.path,
        version: row.version,
        kind: row.kind,
        title,
        description_markdown: description,
        exposed_in_ui: exposedInUi,
        fields,
        generated_at: new Date().toISOString(),
      }
    },
  )
