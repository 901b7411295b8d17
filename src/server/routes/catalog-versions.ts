/** Deleting versions of catalog entries, and restoring what was only archived. */
import type { FastifyInstance } from 'fastify'
import { CatalogRestored, CatalogVersions, CatalogVersionsRequest } from '../../contract/api-catalog.ts'
import { parseId } from '../../contract/ids.ts'
import { ProblemError } from '../../contract/problem.ts'
import { showCatalogEntry } from '../../store/catalog.ts'
import { restoreVersions } from '../../store/catalog-removal.ts'
import type { Shards } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { parseVersion } from '../parse-version.ts'
import { deleteVersions } from '../remove-versions.ts'
import { route } from '../route.ts'

const tag = 'catalog'

export const catalogVersionRoutes = (app: FastifyInstance, { core: { shards } }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/delete',
      name: 'deleteCatalogVersions',
      tag,
      access: 'operator',
      orInternal: true,
      summary: 'Delete a version of a path, or all of them',
      description: 'Versions that executions ran are archived and can be restored; the others are removed.',
      body: CatalogVersionsRequest,
      answer: CatalogVersions,
      problems: ['not_found'],
    },
    ({ body: { path, version } }) => deleteAnswer(shards, path, parseVersion(version ?? null)),
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/catalog/restore',
      name: 'restoreCatalogVersions',
      tag,
      access: 'operator',
      orInternal: true,
      summary: 'Restore what was archived of a path',
      body: CatalogVersionsRequest,
      answer: CatalogRestored,
      problems: ['not_found'],
    },
    async ({ body: { path, version } }) => {
      const number = parseVersion(version ?? null)
      const restored = await restoreVersions(shards.cluster, path, number)
      if (restored.length === 0)
        throw new ProblemError('not_found', `Nothing archived of ${described(path, number)}`)
      return {
        status: 'success',
        message: `Restored ${counted(restored.length)} of '${path}'.`,
        path,
        restored,
        deleted: restored,
        count: restored.length,
      }
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: '/api/catalog/playbooks/*',
      name: 'deletePlaybook',
      tag,
      access: 'operator',
      summary: 'Delete a version by its catalog id, or all versions of a path',
      description:
        'What follows `playbooks/` is the id or the path. `POST /api/catalog/delete` does the same.',
      deprecated: true,
      answer: CatalogVersions,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const given = (request.params as { '*': string })['*']
      const id = parseId(given)
      if (id === null) return deleteAnswer(shards, given, null)
      const entry = await showCatalogEntry(shards.cluster, id)
      if (!entry) throw new ProblemError('not_found', `Catalog entry '${id}' not found`)
      return deleteAnswer(shards, entry.path, entry.version)
    },
  )
}

const deleteAnswer = async (shards: Shards, path: string, version: number | null) => {
  const deleted = await deleteVersions(shards, path, version)
  if (deleted.length === 0)
    throw new ProblemError('not_found', `Catalog entry ${described(path, version)} not found`)
  const archived = deleted.filter((each) => each.archived).length
  const kept = archived === 0 ? '' : `; ${counted(archived)} archived because executions ran it`
  return {
    status: 'success',
    message: `Deleted ${counted(deleted.length)} of '${path}'${kept}.`,
    path,
    deleted,
    count: deleted.length,
  }
}

const described = (path: string, version: number | null): string =>
  version === null ? `'${path}'` : `'${path}' version ${version}`

const counted = (count: number): string => (count === 1 ? '1 version' : `${count} versions`)
