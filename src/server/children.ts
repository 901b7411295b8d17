/**
 * Sub-playbooks. The control plane itself works on commands of kind `playbook`: it starts the child and, when the parent
 * wants its result, parks the command until the child has ended. No worker waits.
 *
 * 1. The id of the command is the id of its child: starting it again, after a crash or a lost lease, starts nothing.
 * 2. A child deeper than the limit is not started.
 * 3. A parent that is cancelled while its child starts does not leave the child behind.
 */
import type { LeasedCommand } from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { isObject } from '../contract/json.ts'
import { parseId } from '../contract/ids.ts'
import { ProblemError } from '../contract/problem.ts'
import { toolTrace } from '../contract/trace.ts'
import { followParent } from './cancel.ts'
import type { Core } from './core.ts'
import { toError } from './core.ts'
import { checkDepth, defaultPool } from './execute.ts'
import { parseVersion } from './parse-version.ts'
import type { RegisteredPlaybook } from './playbooks.ts'

const DEFAULT_WAIT_SECONDS = { return_step: 300, return_result: 180 } as const

export type ChildStart = { readonly data: JsonObject } | { readonly waitMs: number }

export const createChildren = (core: Core) => ({
  /** Throws a ProblemError when the child cannot be started. */
  start: async (command: LeasedCommand): Promise<ChildStart> => {
    const config = isObject(command.context.tool_config) ? command.context.tool_config : {}
    const depth = checkDepth(Number(command.meta['depth'] ?? 0) + 1)
    const playbook = await childPlaybook(core, config)
    checkWantedStep(playbook, config)
    const waits = waitMsOf(config)
    const { reply } = await core.startAs(command.eventId, playbook, {
      payload: childPayload(config, command.context.args),
      parentExecutionId: command.executionId,
      parentCommandId: waits === null ? null : command.commandId,
      depth,
      pool: defaultPool(playbook.path),
      trace: { ...toolTrace(command.executionId, command.eventId, command.meta['trace']) },
    })
    // Started before, by a holder of this command that was lost.
    if (!reply.ok && reply.problem.code !== 'conflict') throw toError(reply.problem)
    await followParent(core, command.eventId, command.executionId)
    if (waits !== null) return { waitMs: waits }
    return { data: { status: 'started', execution_id: command.eventId, path: playbook.path, async: true } }
  },
})

const childPlaybook = (core: Core, config: JsonObject): Promise<RegisteredPlaybook> => {
  const catalogId = parseId(config['catalog_id'])
  if (catalogId !== null) return core.playbooks.byId(catalogId)
  const { path, version } = config
  if (typeof path !== 'string' || path === '')
    throw new ProblemError('invalid', "A playbook tool needs 'path' or 'catalog_id'")
  return core.playbooks.byPath(
    path,
    parseVersion(typeof version === 'number' || typeof version === 'string' ? version : null),
  )
}

/** Better told before the child has run than after. */
const checkWantedStep = ({ path, graph }: RegisteredPlaybook, config: JsonObject): void => {
  const wanted = config['return_step'] ?? config['result_step']
  const { steps } = graph.playbook
  if (typeof wanted !== 'string' || wanted === '' || steps.some((step) => step.name === wanted)) return
  const names = steps.map((step) => step.name).join(', ')
  throw new ProblemError('invalid', `Playbook ${path} has no step '${wanted}' to return; it has: ${names}`)
}

/** Null when the parent does not wait. */
const waitMsOf = (config: JsonObject): number | null => {
  const mode = isGiven(config['return_step'])
    ? 'return_step'
    : isTrue(config['return_result'])
      ? 'return_result'
      : null
  if (mode === null) return null
  const seconds = Number(config['timeout'] ?? config['timeout_seconds'] ?? DEFAULT_WAIT_SECONDS[mode])
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : DEFAULT_WAIT_SECONDS[mode] * 1000
}

const isGiven = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

const isTrue = (value: Json | undefined): boolean =>
  value === true || (typeof value === 'string' && value.toLowerCase() === 'true')

const childPayload = (config: JsonObject, args: JsonObject): JsonObject => {
  if (Object.keys(args).length > 0) return args
  return isObject(config['payload']) ? config['payload'] : {}
}
