/**
 * The catalog: registering documents and finding them.
 *
 * 1. A list without a limit has everything, and is written page by page: neither side of it has to hold it whole.
 */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import {
  AgentListRequest,
  CatalogEntry,
  CatalogListRequest,
  CatalogPage,
  CatalogResourceRequest,
  Registered,
  RegisterRequest,
} from '../../contract/api-catalog.ts'
import { parseId } from '../../contract/ids.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { CatalogRow } from '../../store/catalog.ts'
import { findCatalogEntry, showCatalogEntry } from '../../store/catalog.ts'
import type { CatalogFilter, ListedEntry } from '../../store/catalog-list.ts'
import { listCatalog } from '../../store/catalog-list.ts'
import type { Database } from '../../store/database.ts'
import type { ServerContext } from '../app.ts'
import { parseVersion } from '../parse-version.ts'
import type { Registration } from '../register.ts'
import { registerDocument } from '../register.ts'
import { route } from '../route.ts'

const tag = 'catalog'
const STREAMED_PAGE = 200

export const catalogRoutes = (app: FastifyInstance, context: ServerContext): void => {
  registerRoute(app, context)
  listRoutes(app, context)
  resourceRoute(app, context)
}

const registerRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/register',
      name: 'registerDocument',
      tag,
      access: 'operator',
      summary: 'Register the next version of a playbook or another document',
      description:
        'Text that is not YAML gives 400; a playbook that is not valid gives 422 with all its problems.',
      body: RegisterRequest,
      answer: Registered,
      problems: ['bad_request'],
    },
    async ({ body: { content, resource_type } }) =>
      registeredAnswer(await registerDocument(core, content, resource_type)),
  )

export const registeredAnswer = ({ row, warnings }: Registration) => ({
  status: 'success',
  message: `Resource '${row.path}' version '${row.version}' registered.`,
  path: row.path,
  version: row.version,
  catalog_id: row.catalog_id,
  kind: row.kind,
  warnings,
})

const listRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/list',
      name: 'listCatalog',
      tag,
      access: 'viewer',
      summary: 'List entries, newest first',
      description: 'With `limit` a page and `next_cursor`; without it everything.',
      body: CatalogListRequest,
      answer: CatalogPage,
    },
    async ({ body, reply }) => {
      const filter = filterOf(body)
      if (typeof body.limit !== 'number') {
        const first = await listCatalog(cluster, { ...filter, limit: STREAMED_PAGE })
        // From here on a failure can only break the connection.
        const text = Readable.from(entriesText(cluster, filter, first))
        return reply.type('application/json; charset=utf-8').send(text)
      }
      const rows = await listCatalog(cluster, { ...filter, limit: body.limit + 1 })
      const entries = rows.slice(0, body.limit)
      return {
        entries: entries.map((row) => listedEntry(row, filter.archived)),
        next_cursor: rows.length > entries.length ? (entries.at(-1)?.catalog_id ?? null) : null,
      }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/agents/list',
      name: 'listAgents',
      tag,
      access: 'viewer',
      summary: 'List the newest versions of what calls itself an agent',
      body: AgentListRequest,
      answer: CatalogPage,
    },
    async ({ body }) => {
      const filter = filterOf({ ...body, latest: true, agent_only: true, include_archived: false })
      const rows = await listCatalog(cluster, { ...filter, limit: MAX_AGENTS })
      return { entries: rows.map((row) => listedEntry(row, false)) }
    },
  )
}

const MAX_AGENTS = 1000

const filterOf = (request: CatalogListRequest): Omit<CatalogFilter, 'limit'> => ({
  kind: request.resource_type?.toLowerCase() ?? null,
  path: request.path ?? null,
  latest: request.latest,
  archived: request.include_archived,
  agents: request.agent_only,
  capabilities: [
    ...(request.capabilities ?? []),
    ...(typeof request.capability === 'string' ? [request.capability] : []),
  ],
  before: request.cursor ?? null,
})

/** The answer of an unlimited list, piece by piece. */
async function* entriesText(
  cluster: Database,
  filter: Omit<CatalogFilter, 'limit'>,
  first: readonly ListedEntry[],
): AsyncGenerator<string> {
  let text = '{"entries":['
  let separator = ''
  for (let rows = first; ;) {
    for (const row of rows) {
      text += `${separator}${JSON.stringify(listedEntry(row, filter.archived))}`
      separator = ','
    }
    const last = rows.at(-1)
    if (rows.length < STREAMED_PAGE || !last) break
    yield text
    text = ''
    rows = await listCatalog(cluster, { ...filter, before: last.catalog_id, limit: STREAMED_PAGE })
  }
  yield `${text}]}`
}

const listedEntry = ({ archived_at, ...row }: ListedEntry, archived: boolean): CatalogRow | ListedEntry =>
  archived ? { ...row, archived_at } : row

const resourceRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/resource',
      name: 'getCatalogEntry',
      tag,
      access: 'viewer',
      summary: 'Read one entry, by its id or as a version of a path',
      body: CatalogResourceRequest,
      answer: CatalogEntry,
      problems: ['not_found'],
    },
    async ({ body: { catalog_id, path, version } }) => {
      const { cluster } = core.shards
      if (catalog_id !== undefined && catalog_id !== null) {
        const id = parseId(catalog_id)
        if (id === null) throw new ProblemError('invalid', 'Invalid catalog_id')
        return found(await showCatalogEntry(cluster, id), `Catalog entry '${id}' not found`)
      }
      if (!path) throw new ProblemError('invalid', "Either 'catalog_id' or 'path' must be provided")
      return entryOfPath(cluster, path, parseVersion(version ?? null))
    },
  )

/** A version of a path, the newest one without a number; a missing one is a problem. */
export const entryOfPath = async (
  cluster: Database,
  path: string,
  version: number | null,
): Promise<CatalogRow> =>
  found(
    await findCatalogEntry(cluster, path, version),
    version === null
      ? `Catalog entry '${path}' not found`
      : `Catalog entry '${path}' version ${version} not found`,
  )

const found = (row: CatalogRow | null, message: string): CatalogRow => {
  if (!row) throw new ProblemError('not_found', message)
  return row
}
