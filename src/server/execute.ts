/** Starting an execution on request. */
import type { ExecuteRequest } from '../contract/api.ts'
import { ProblemError } from '../contract/problem.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import type { RegisteredPlaybook } from './playbooks.ts'
import { parseVersion } from './routes/catalog.ts'

export interface Started {
  readonly execution_id: string
  readonly status: 'started'
  readonly commands_generated: number
}

export const execute = async (core: Core, request: ExecuteRequest): Promise<Started> => {
  const playbook = await resolvePlaybook(core, request)
  const answer = await core.start(playbook, {
    payload: request.payload ?? {},
    parentExecutionId: request.parent_execution_id ?? null,
    pool: poolOf(request, playbook),
    trace: request.trace ?? null,
  })
  const { reply, state, executionId } = answer
  if (!reply.ok) throw toError(reply.problem)
  // The execution exists and has failed: its first command could not be built.
  if (
    state?.status === 'FAILED' &&
    state.counts.entered <= 1 &&
    state.error?.startsWith('Orchestrator evaluate failed')
  ) {
    throw new ProblemError('invalid', state.error, { details: { execution_id: executionId } })
  }
  return { execution_id: executionId, status: 'started', commands_generated: generated(answer) }
}

/** For a loop on the entry step the size of its collection, however many are issued at first. */
const generated = ({ state, commandsGenerated }: Awaited<ReturnType<Core['start']>>): number => {
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
