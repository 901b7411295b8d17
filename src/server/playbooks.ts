/**
 * Parsed playbooks. The text of a catalog entry never changes, so what was parsed once is kept by its id.
 * Looking up the newest version of a path is shared: requests that arrive while a lookup is on its way wait for
 * the next one, so each sees every version registered before it asked.
 */
import { ProblemError } from '../contract/problem.ts'
import type { Graph } from '../engine/graph.ts'
import { createGraph } from '../engine/graph.ts'
import { createLru } from '../lib/lru.ts'
import { parsePlaybook } from '../playbook/parse.ts'
import type { Diagnostic } from '../playbook/problem.ts'
import type { CatalogRow } from '../store/catalog.ts'
import { findCatalogEntry, findNewestId, readCatalogEntry } from '../store/catalog.ts'
import type { Database } from '../store/database.ts'

export interface RegisteredPlaybook {
  readonly catalogId: string
  readonly path: string
  readonly version: number
  readonly graph: Graph
}

export interface Playbooks {
  /** If it is in memory. */
  atHand(catalogId: string): RegisteredPlaybook | null
  /** Throws `not_found`, or `invalid` with the problems of an entry that is not a valid playbook. */
  byId(catalogId: string): Promise<RegisteredPlaybook>
  byPath(path: string, version: number | null): Promise<RegisteredPlaybook>
}

const CACHED = 10_000
const CACHED_BYTES = 64 * 1024 * 1024

interface Parsed {
  readonly playbook: RegisteredPlaybook
  /** What it takes of the memory, about. */
  readonly bytes: number
}

export const createPlaybooks = (cluster: Database, cachedBytes = CACHED_BYTES): Playbooks => {
  const parsed = createLru<string, Parsed>(CACHED, { limit: cachedBytes, of: ({ bytes }) => bytes })
  const lookups = new Map<string, { running: Promise<unknown>; next: Promise<string | null> | null }>()

  const atHand = (catalogId: string): RegisteredPlaybook | null => parsed.get(catalogId)?.playbook ?? null

  const parse = (row: CatalogRow): RegisteredPlaybook => {
    const known = atHand(row.catalog_id)
    if (known) return known
    const playbook: RegisteredPlaybook = {
      catalogId: row.catalog_id,
      path: row.path,
      version: row.version,
      graph: parseGraph(row),
    }
    parsed.set(row.catalog_id, { playbook, bytes: parsedBytes(row, playbook) })
    return playbook
  }

  const newest = (path: string): Promise<string | null> => {
    const lookup = lookups.get(path)
    if (!lookup) {
      const running = findNewestId(cluster, path)
      const entry = { running, next: null as Promise<string | null> | null }
      lookups.set(path, entry)
      const forget = (): void => {
        if (!entry.next) lookups.delete(path)
      }
      running.then(forget, forget)
      return running
    }
    if (!lookup.next) {
      lookup.next = lookup.running
        .catch(() => null)
        .then(() => {
          lookups.delete(path)
          return newest(path)
        })
    }
    return lookup.next
  }

  const byId = async (catalogId: string): Promise<RegisteredPlaybook> => {
    const known = atHand(catalogId)
    if (known) return known
    const row = await readCatalogEntry(cluster, catalogId)
    if (!row) throw new ProblemError('not_found', `Catalog entry not found: ${catalogId}`)
    return parse(row)
  }

  return {
    atHand,
    byId,
    byPath: async (path, version) => {
      if (version === null) {
        const catalogId = await newest(path)
        if (catalogId === null) throw new ProblemError('not_found', `Playbook not found: ${path}`)
        return byId(catalogId)
      }
      const row = await findCatalogEntry(cluster, path, version)
      if (!row) throw new ProblemError('not_found', `Playbook not found: ${path} version ${version}`)
      return parse(row)
    },
  }
}

/** Its objects are several times its text. What a graph remembers of who reaches whom grows with the square of its steps. */
const parsedBytes = ({ content }: CatalogRow, { graph }: RegisteredPlaybook): number =>
  16_000 + 16 * content.length + 16 * graph.playbook.steps.length ** 2

const parseGraph = (row: CatalogRow): Graph => {
  if (row.kind !== 'playbook') {
    throw new ProblemError(
      'invalid',
      `Catalog entry ${row.catalog_id} (${row.path}) is of kind ${row.kind}, not a playbook`,
    )
  }
  const result = parsePlaybook(row.content)
  if (!result.ok) throw playbookProblem(result.kind, result.problems)
  return createGraph(result.playbook)
}

export const playbookProblem = (kind: 'yaml' | 'invalid', problems: readonly Diagnostic[]): ProblemError => {
  const errors = problems.filter((problem) => problem.severity === 'error')
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  const place = first ? ` at line ${first.line}, column ${first.column}` : ''
  return new ProblemError(
    kind === 'yaml' ? 'bad_request' : 'invalid',
    `${first?.message ?? 'Invalid playbook'}${place}${more}`,
    {
      details: { problems: problems.map((problem) => ({ ...problem })) },
    },
  )
}
