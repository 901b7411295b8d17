import type { FastifyInstance } from 'fastify'
import { CatalogListRequest, CatalogResourceRequest, RegisterRequest } from '../../contract/api.ts'
import { parseId } from '../../contract/ids.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { CatalogRow } from '../../store/catalog.ts'
import { findCatalogEntry, listCatalog, readCatalogEntry } from '../../store/catalog.ts'
import type { ServerContext } from '../app.ts'
import { check } from '../http.ts'
import { parseVersion } from '../parse-version.ts'
import { registerDocument } from '../register.ts'

export const catalogRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  app.post('/api/catalog/register', async (request) => {
    const { content, resource_type } = check(RegisterRequest, request.body)
    const { row, warnings } = await registerDocument(core, content, resource_type)
    return {
      status: 'success',
      message: `Resource '${row.path}' version '${row.version}' registered.`,
      path: row.path,
      version: row.version,
      catalog_id: row.catalog_id,
      kind: row.kind,
      warnings,
    }
  })

  app.post('/api/catalog/list', async (request) => {
    const { resource_type } = check(CatalogListRequest, request.body)
    const rows = await listCatalog(cluster, resource_type?.toLowerCase() ?? null)
    return { entries: rows.map(catalogEntry) }
  })

  app.post('/api/catalog/resource', async (request) => {
    const { catalog_id, path, version } = check(CatalogResourceRequest, request.body)
    if (catalog_id !== undefined && catalog_id !== null) {
      const id = parseId(catalog_id)
      if (id === null) throw new ProblemError('invalid', 'Invalid catalog_id')
      return catalogEntry(await found(readCatalogEntry(cluster, id), `Catalog entry '${id}' not found`))
    }
    if (!path) throw new ProblemError('invalid', "Either 'catalog_id' or 'path' must be provided")
    const wanted = parseVersion(version ?? null)
    const missing =
      wanted === null
        ? `Catalog entry '${path}' not found`
        : `Catalog entry '${path}' version ${wanted} not found`
    return catalogEntry(await found(findCatalogEntry(cluster, path, wanted), missing))
  })
}

const found = async (lookup: Promise<CatalogRow | null>, message: string): Promise<CatalogRow> => {
  const row = await lookup
  if (!row) throw new ProblemError('not_found', message)
  return row
}

const catalogEntry = (row: CatalogRow): CatalogRow => row
