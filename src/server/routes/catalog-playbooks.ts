/** Playbooks as text, for editors: by id or path, read and written as a whole. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  PlaybookContent,
  PlaybookContentRequest,
  PlaybookQuery,
  Registered,
} from '../../contract/api-catalog.ts'
import { parseId } from '../../contract/ids.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { CatalogRow } from '../../store/catalog.ts'
import { showCatalogEntry } from '../../store/catalog.ts'
import { listPaths } from '../../store/catalog-list.ts'
import type { Database } from '../../store/database.ts'
import type { ServerContext } from '../app.ts'
import { parseVersion } from '../parse-version.ts'
import { registerDocument } from '../register.ts'
import { route } from '../route.ts'
import { entryOfPath, registeredAnswer } from './catalog.ts'

const tag = 'catalog'

export const catalogPlaybookRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'GET',
      url: '/api/catalog/playbook/content',
      name: 'getPlaybookContent',
      tag,
      access: 'viewer',
      summary: 'Read the text of a playbook',
      query: PlaybookQuery,
      answer: PlaybookContent,
      problems: ['not_found'],
    },
    async ({ query: { playbook_id, version } }) => {
      const {
        catalog_id,
        path,
        version: number,
        kind,
        content,
      } = await entryOf(cluster, playbook_id, version)
      return { catalog_id, path, version: number, kind, content }
    },
  )

  for (const [url, name] of [
    ['/api/catalog/playbook/content', 'putPlaybookContent'],
    ['/api/catalog/playbook', 'putPlaybook'],
  ] as const) {
    route(
      app,
      {
        method: 'PUT',
        url,
        name,
        tag,
        access: 'operator',
        summary: 'Write the text of a playbook, as its next version',
        description: 'The text must be of the same path. `POST /api/catalog/register` takes any.',
        query: PlaybookQuery,
        body: PlaybookContentRequest,
        answer: Registered,
        problems: ['bad_request', 'not_found'],
      },
      async ({ query: { playbook_id }, body: { content } }) => {
        const { path, kind } = await entryOf(cluster, playbook_id, 'latest')
        return registeredAnswer(await registerDocument(core, content, kind, { onlyAs: path }))
      },
    )
  }

  for (const method of ['GET', 'POST'] as const) {
    route(
      app,
      {
        method,
        url: '/api/catalog/list/:resource_type',
        name: method === 'GET' ? 'listPaths' : 'listPathsByPost',
        tag,
        access: 'viewer',
        summary: 'List the paths of one kind',
        description: 'Paths only. `POST /api/catalog/list` gives the entries.',
        answer: z.array(z.string()),
      },
      ({ request }) => listPaths(cluster, kindIn(request)),
    )
  }
}

const kindIn = (request: FastifyRequest): string =>
  (request.params as { resource_type: string }).resource_type.toLowerCase()

/** An id names one version; a path needs one. */
const entryOf = async (cluster: Database, given: string, version: string): Promise<CatalogRow> => {
  const id = parseId(given)
  if (id === null) return entryOfPath(cluster, given, parseVersion(version))
  const row = await showCatalogEntry(cluster, id)
  if (!row) throw new ProblemError('not_found', `Catalog entry '${id}' not found`)
  return row
}
