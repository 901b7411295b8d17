/** The first event of an execution, and what follows from it at once. */
import { EVENT } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { renderValue } from '../template/render.ts'
import type { Scope, View } from '../template/scope.ts'
import { VIEW } from '../template/scope.ts'
import { advance, resume } from './advance.ts'
import { lookAfterParent } from './cancel.ts'
import { renderIn } from './collection.ts'
import { emitSeed } from './fork.ts'
import type { Reply, StartInput } from './input.ts'
import { accepted, refused } from './input.ts'
import type { Session } from './session.ts'
import { emit, scopeOf } from './session.ts'
import type { Origin } from './state.ts'
import { writeFromOutside } from './variables.ts'

/** A refused start leaves a state that must be thrown away; nothing of it may be written. */
export const startExecution = (session: Session, input: StartInput): Reply => {
  const reply = begin(session, input)
  if (reply.ok) lookAfterParent(session)
  return reply
}

const begin = (session: Session, input: StartInput): Reply => {
  const { state, environment, graph } = session
  if (state.status !== null) return refused('conflict', `Execution ${state.executionId} has already started`)
  const workload = effectiveWorkload(session, input)
  if (typeof workload === 'string') return refused('invalid', workload)
  const { eventId } = emit(session, {
    eventType: EVENT.started,
    nodeName: input.path,
    nodeType: 'execution',
    status: 'STARTED',
    context: { catalog_id: input.catalogId, execution_id: state.executionId, path: input.path, workload },
    meta: {
      emitted_at: environment.now,
      emitter: 'control_plane',
      ...(input.seed ? { seeded: true } : { entry: graph.playbook.entry }),
      pool: input.pool,
      ...(input.version === null ? {} : { version: input.version }),
      ...(input.parentExecutionId === null ? {} : { parent_execution_id: input.parentExecutionId }),
      ...(input.parentCommandId ? { parent_command_id: input.parentCommandId } : {}),
      ...(input.depth ? { depth: input.depth } : {}),
      ...(input.trace === null ? {} : { trace: input.trace }),
      ...(input.origin ? { origin: originFact(input.origin) } : {}),
    },
  })
  session.trigger = eventId
  if (input.seed) emitSeed(session, input.seed)
  const variables = input.variables ?? {}
  if (Object.keys(variables).length > 0)
    writeFromOutside(session, { type: 'variables', values: variables, source: 'rerun' })
  if (input.seed) {
    resume(session)
    return accepted(eventId)
  }
  const problem = entryLoopProblem(session)
  if (problem) return problem
  advance(session, null)
  return accepted(eventId)
}

const originFact = ({ executionId, eventId, position }: Origin): JsonObject => ({
  execution_id: executionId,
  ...(eventId === null ? {} : { event_id: eventId, position }),
})

/** The collection of a loop on the entry step must be a list before anything starts. */
const entryLoopProblem = (session: Session): Reply | null => {
  const { playbook } = session.graph
  const { loop } = session.graph.step(playbook.entry)
  if (typeof loop?.in !== 'string') return null
  let value: Json
  try {
    value = renderIn(loop.in, scopeOf(session))
  } catch {
    // Reported by the pass that enters the step.
    return null
  }
  if (Array.isArray(value)) return null
  return refused(
    'invalid',
    `${playbook.entry} step loop.in must resolve to a JSON array, got: ${typeWord(value)}`,
  )
}

const typeWord = (value: Json): string => {
  if (value === null) return 'null'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/**
 * The playbook's defaults overlaid by the payload, top-level keys only. Templates in defaults are rendered once,
 * those in the payload never. A default that reads itself sees the payload, one that reads another default sees
 * it rendered. Text instead of a mapping says which default cannot be rendered, and why.
 */
const effectiveWorkload = (
  session: Session,
  { payload, catalogId, path }: StartInput,
): JsonObject | string => {
  const { environment, state, graph } = session
  const defaults = graph.playbook.workload
  const keys = [...new Set([...Object.keys(defaults), ...Object.keys(payload)])]
  const rendered = new Map<string, Json>()
  const inProgress = new Set<string>()
  const valueOf = (key: string): Json | undefined => {
    if (Object.hasOwn(payload, key)) return payload[key]
    if (rendered.has(key)) return rendered.get(key)
    if (!Object.hasOwn(defaults, key) || inProgress.has(key)) return undefined
    inProgress.add(key)
    const value = renderValue(defaults[key] ?? null, scope)
    inProgress.delete(key)
    rendered.set(key, value)
    return value
  }
  const all = (): JsonObject => Object.fromEntries(keys.map((key) => [key, valueOf(key) ?? null]))
  const workload: View = { [VIEW]: true, get: valueOf, plain: all }
  const job = { uuid: state.executionId, id: state.executionId, execution_id: state.executionId }
  const facts = {
    execution_id: state.executionId,
    catalog_id: catalogId,
    job,
    payload,
    input: payload,
    workload,
  }
  const fixed = new Map<string, unknown>(Object.entries(facts))
  const scope: Scope = {
    now: environment.now,
    uuid: environment.uuid,
    lookup: (name) => fixed.get(name) ?? valueOf(name) ?? (name === 'path' ? path : undefined),
  }
  try {
    return all()
  } catch (error) {
    // The default that failed is the innermost of those being rendered.
    return `workload.${[...inProgress].at(-1)}: ${error instanceof Error ? error.message : String(error)}`
  }
}
