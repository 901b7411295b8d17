/**
 * Starting an execution on request.
 *
 * 1. A key of its own makes a request repeatable: whoever sends it again within its window gets the execution that
 *    the first one started, and one that was claimed but never started, because its server died, is started then.
 * 2. An execution below the limit of nesting is not started.
 * 3. A child whose parent is cancelled meanwhile is cancelled, too.
 */
import type { ExecuteRequest } from '../contract/api.ts'
import { ProblemError } from '../contract/problem.ts'
import { claimDedupKey } from '../store/dedup.ts'
import { readEvents } from '../store/events.ts'
import { readVersion } from '../store/executions.ts'
import { followParent } from './cancel.ts'
import type { Core, Told } from './core.ts'
import { toError } from './core.ts'
import type { RegisteredPlaybook } from './playbooks.ts'
import { parseVersion } from './parse-version.ts'

export interface Started {
  readonly execution_id: string
  readonly status: 'started' | 'duplicate'
  readonly commands_generated: number
}

const MAX_DEPTH = 16

export const execute = async (core: Core, request: ExecuteRequest): Promise<Started> => {
  const playbook = await resolvePlaybook(core, request)
  const depth = await depthBelow(core, request.parent_execution_id ?? null)
  const minted = core.nextId()
  const executionId = await claimKey(core, request, minted)
  if (executionId !== minted && (await readVersion(core.shards.of(executionId), executionId)) !== null) {
    return { execution_id: executionId, status: 'duplicate', commands_generated: 0 }
  }
  const told = await core.startAs(executionId, playbook, {
    payload: request.payload ?? request.args ?? {},
    parentExecutionId: request.parent_execution_id ?? null,
    depth,
    pool: poolOf(request, playbook),
    trace: request.trace ?? null,
  })
  if (!told.reply.ok && told.reply.problem.code === 'conflict') {
    // An id that was just made and is taken all the same: two servers were given one machine id.
    if (executionId === minted) return execute(core, request)
    return { execution_id: executionId, status: 'duplicate', commands_generated: 0 }
  }
  const answer = started(executionId, told)
  if (request.parent_execution_id) await followParent(core, executionId, request.parent_execution_id)
  return answer
}

const started = (executionId: string, told: Told): Started => {
  const { reply, state } = told
  if (!reply.ok) throw toError(reply.problem)
  // The execution exists and has failed: its first command could not be built.
  if (
    state?.status === 'FAILED' &&
    state.counts.entered <= 1 &&
    state.error?.startsWith('Orchestrator evaluate failed')
  ) {
    throw new ProblemError('invalid', state.error, { details: { execution_id: executionId } })
  }
  return { execution_id: executionId, status: 'started', commands_generated: generated(told) }
}

const claimKey = async (
  core: Core,
  { dedup, parent_execution_id }: ExecuteRequest,
  minted: string,
): Promise<string> => {
  if (!dedup) return minted
  const key = { scope: parent_execution_id ?? '0', key: dedup.key, windowSeconds: dedup.window_secs }
  return claimDedupKey(core.shards.cluster, key, minted)
}

/** How deep a child of this execution would stand. */
export const depthBelow = async (core: Core, parentId: string | null): Promise<number> => {
  if (parentId === null) return 0
  const [first] = await readEvents(core.shards.of(parentId), parentId, { limit: 1 })
  const above = Number(first?.meta['depth'] ?? 0)
  return checkDepth((Number.isFinite(above) ? above : 0) + 1)
}

export const checkDepth = (depth: number): number => {
  if (depth <= MAX_DEPTH) return depth
  throw new ProblemError(
    'invalid',
    `Playbooks are nested ${depth} deep; ${MAX_DEPTH} is the limit. Does this playbook run itself?`,
  )
}

/** For a loop on the entry step the size of its collection, however many are issued at first. */
const generated = ({ state, commandsGenerated }: Told): number => {
  for (const step of state?.steps.values() ?? []) if (step.loop) return step.loop.total
  return commandsGenerated
}

const resolvePlaybook = async (core: Core, request: ExecuteRequest): Promise<RegisteredPlaybook> => {
  if (request.catalog_id !== undefined && request.catalog_id !== null)
    return core.playbooks.byId(request.catalog_id)
  if (!request.path) throw new ProblemError('invalid', "Either 'path' or 'catalog_id' must be provided")
  return core.playbooks.byPath(request.path, parseVersion(request.version ?? null))
}

/** The pool the request names, else the one the path belongs to. */
const poolOf = ({ execution_pool }: ExecuteRequest, { path }: RegisteredPlaybook): string =>
  execution_pool?.trim() || defaultPool(path)

export const defaultPool = (path: string): string => {
  const [prefix] = path.split('/')
  return path.includes('/') && (prefix === 'system' || prefix === 'subscription') ? prefix : 'shared'
}
