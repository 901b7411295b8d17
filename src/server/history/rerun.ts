/**
 * Running an execution again as a new one: from its start, from what failed in it, from a step or from an event.
 *
 * 1. The new execution names its origin and says in its own log what it took over; the origin may be deleted afterwards.
 *    Results that are stored apart are copied for that.
 * 2. It runs the version of its origin unless another one is named, with the workload of its origin unless it is edited.
 *    Under another version, defaults that nobody had overridden are those of that version.
 * 3. With a key the request can be repeated.
 * 4. An execution that was imported without its secrets is not run again with what stands in their place.
 */
import type { RerunRequest } from '../../contract/api-history.ts'
import type { Json, JsonObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { ForkPoint } from '../../engine/fork.ts'
import { createForkFold, fitSeed, seedOf } from '../../engine/fork.ts'
import type { KeptStep, Seed } from '../../engine/fork-state.ts'
import { failedSteps } from '../../engine/reopen.ts'
import type { Origin, State } from '../../engine/state.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { readVersion } from '../../store/executions.ts'
import { claimDedupKey } from '../../store/dedup.ts'
import { readForFold } from '../../store/fold-events.ts'
import { findExactPosition } from '../../store/log-positions.ts'
import { listEntries } from '../../store/step-events.ts'
import { followParent } from '../cancel.ts'
import type { Core } from '../core.ts'
import { toError } from '../core.ts'
import { defaultPool, depthBelow } from '../execute.ts'
import { parseVersion } from '../parse-version.ts'
import type { RegisteredPlaybook } from '../playbooks.ts'
import { loadState, loadStateAt } from '../state-loader.ts'
import { copyResults } from './copy-results.ts'
import { demandRow } from './cutoff.ts'
import { refuseHidden } from './hidden-values.ts'

export interface Rerun {
  readonly executionId: string
  readonly status: 'started' | 'duplicate'
  readonly commandsGenerated: number
  readonly origin: Origin
  readonly catalogId: string
  readonly kept: readonly string[]
  readonly dropped: readonly string[]
}

/** What the new execution takes over. */
interface Taken {
  readonly seed: Seed | null
  readonly dropped: readonly string[]
  readonly origin: Origin
}

export const rerun = async (core: Core, originId: string, request: RerunRequest): Promise<Rerun> => {
  const row = await demandRow(core, originId)
  const loaded = await loadState(core.shards.of(originId), originId, core.sealer)
  if (!loaded)
    throw new ProblemError('conflict', `Execution ${originId} has no log of this engine to run again`)
  const former = await core.playbooks.byId(loaded.state.catalogId)
  const playbook = await wantedPlaybook(core, former, request)
  const taken = await takeOver(core, row, loaded.state, former, playbook, request.from)
  const payload = { ...inheritedWorkload(loaded.state.workload, former, playbook), ...request.payload }
  if (row.imported)
    refuseHidden(originId, {
      workload: payload,
      variables: { ...taken.seed?.vars, ...request.variables },
      kept: taken.seed?.kept ?? [],
    })
  const executionId = await mintId(core, originId, request)
  const answer = {
    executionId,
    origin: taken.origin,
    catalogId: playbook.catalogId,
    kept: taken.seed?.kept.filter(hasResult).map(({ name }) => name) ?? [],
    dropped: taken.dropped,
  }
  if ((await readVersion(core.shards.of(executionId), executionId)) !== null)
    return { ...answer, status: 'duplicate', commandsGenerated: 0 }
  const told = await core.startAs(executionId, playbook, {
    payload,
    parentExecutionId: request.parent_execution_id ?? null,
    depth: await depthBelow(core, request.parent_execution_id ?? null),
    pool:
      request.execution_pool?.trim() || (playbook.path === row.path ? row.pool : defaultPool(playbook.path)),
    trace: null,
    origin: taken.origin,
    seed: taken.seed && (await copyResults(core, executionId, taken.seed)),
    variables: request.variables ?? {},
  })
  if (!told.reply.ok) {
    if (told.reply.problem.code === 'conflict')
      return { ...answer, status: 'duplicate', commandsGenerated: 0 }
    throw toError(told.reply.problem)
  }
  if (request.parent_execution_id) await followParent(core, executionId, request.parent_execution_id)
  return { ...answer, status: 'started', commandsGenerated: told.commandsGenerated }
}

/** What failed and is run again is not kept, although the seed knows of it; neither is it that a step was skipped. */
const hasResult = ({ outcome, loop }: KeptStep): boolean =>
  loop !== null || (outcome !== null && outcome !== 'skipped')

const mintId = async (core: Core, originId: string, { dedup }: RerunRequest): Promise<string> => {
  const minted = core.nextId()
  if (!dedup) return minted
  const key = { scope: originId, key: `rerun:${dedup.key}`, windowSeconds: dedup.window_secs }
  return claimDedupKey(core.shards.cluster, key, minted)
}

const wantedPlaybook = (
  core: Core,
  former: RegisteredPlaybook,
  { catalog_id, path, version }: RerunRequest,
): Promise<RegisteredPlaybook> | RegisteredPlaybook => {
  if (catalog_id !== undefined && catalog_id !== null) return core.playbooks.byId(catalog_id)
  if (!path && (version === undefined || version === null)) return former
  return core.playbooks.byPath(path || former.path, parseVersion(version ?? null))
}

/** The workload as it was, but without defaults of the former version that nobody had overridden. */
const inheritedWorkload = (
  workload: JsonObject,
  former: RegisteredPlaybook,
  playbook: RegisteredPlaybook,
): JsonObject => {
  if (former.catalogId === playbook.catalogId) return workload
  const defaults = former.graph.playbook.workload
  const isDefault = ([key, value]: readonly [string, Json]): boolean =>
    Object.hasOwn(defaults, key) && JSON.stringify(defaults[key]) === JSON.stringify(value)
  return Object.fromEntries(Object.entries(workload).filter((entry) => !isDefault(entry)))
}

const takeOver = async (
  core: Core,
  row: ExecutionRow,
  end: State,
  former: RegisteredPlaybook,
  playbook: RegisteredPlaybook,
  from: RerunRequest['from'],
): Promise<Taken> => {
  const { execution_id: originId, version: last } = row
  if (from === 'start')
    return { seed: null, dropped: [], origin: { executionId: originId, eventId: null, position: 0 } }
  const point = await forkPoint(core, row, end, former, from)
  const cut = await cutOut(core, originId, former, point, point.type === 'position' ? point.position : last)
  const { seed, dropped, missing } = fitSeed(seedOf(cut.state), playbook.graph)
  if (missing.length > 0)
    throw new ProblemError(
      'invalid',
      `The rerun would go on with ${missing.map((name) => `step '${name}'`).join(', ')}, which version ${playbook.version} of ${playbook.path} does not have`,
    )
  return { seed, dropped, origin: { executionId: originId, ...cut.last } }
}

const forkPoint = async (
  core: Core,
  { execution_id: originId, status, version: last }: ExecutionRow,
  end: State,
  former: RegisteredPlaybook,
  from: Exclude<RerunRequest['from'], 'start'>,
): Promise<ForkPoint> => {
  const database = core.shards.of(originId)
  if (from === 'failed') {
    if (status === 'RUNNING')
      throw new ProblemError(
        'conflict',
        `Execution ${originId} is still running; it can be rerun from a step or an event`,
      )
    if (status === 'COMPLETED' || (failedSteps(end).length === 0 && end.cut === null))
      throw new ProblemError(
        'conflict',
        `Execution ${originId} is ${status} and nothing in it failed; rerun it from the start or from a step`,
      )
    return { type: 'failed' }
  }
  if ('position' in from) return { type: 'position', position: Math.min(from.position, last) }
  if ('event_id' in from) {
    const position = await findExactPosition(database, originId, from.event_id, last)
    if (position === null)
      throw new ProblemError('invalid', `Execution ${originId} has no event ${from.event_id}`)
    return { type: 'position', position }
  }
  const names = former.graph.playbook.steps.map(({ name }) => name)
  if (!names.includes(from.step))
    throw new ProblemError(
      'invalid',
      `Step '${from.step}' is not in the playbook; it has: ${names.join(', ')}`,
    )
  const entries = await listEntries(database, originId, from.step)
  const entry = from.run === undefined ? entries.at(-1) : entries[from.run - 1]
  if (entry === undefined)
    throw new ProblemError(
      'invalid',
      entries.length === 0
        ? `Step '${from.step}' did not run in execution ${originId}${end.origin === null ? '' : `; if it was kept from execution ${end.origin.executionId}, rerun that one`}`
        : `Step '${from.step}' ran ${entries.length} times in execution ${originId}; there is no run ${from.run}`,
    )
  return { type: 'step', step: from.step, enteredAt: entry }
}

/** The state that the fork begins with, and the last event that it knows of. */
const cutOut = async (
  core: Core,
  originId: string,
  former: RegisteredPlaybook,
  point: ForkPoint,
  upTo: number,
): Promise<{ state: State; last: { eventId: string | null; position: number } }> => {
  const database = core.shards.of(originId)
  const { sealer } = core
  // Everything before the place at which a step is taken out is as it was: the nearest snapshot knows it.
  const start = point.type === 'step' ? point.enteredAt - 1 : upTo
  const begin = await loadStateAt(database, originId, sealer, start)
  const fold = createForkFold(former.graph, originId, point, begin)
  let last = { eventId: null as string | null, position: 0 }
  const after = Math.max(0, start - 1)
  for await (const events of readForFold(database, originId, { after, upTo, sealer })) {
    for (const event of events) {
      if (fold.add(event)) last = { eventId: event.eventId, position: event.position }
    }
  }
  return { state: fold.finish(), last }
}
