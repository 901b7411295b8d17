/**
 * Building a command: the tool's configuration rendered as far as the server may, and exactly those variables
 * that the rest still needs.
 *
 * 1. Every template is rendered once: here, or later by the worker if it reads secrets or what the worker
 *    itself produces. `meta.late` lists the paths left for the worker.
 * 2. `render_context` carries the values that late templates and code may read, and nothing else, so that the
 *    size of a command does not grow with the execution.
 * 3. The command id names execution, step and issuing event; all attempts share it.
 */
import { EVENT } from '../contract/event.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { Step } from '../playbook/model.ts'
import { renderValue } from '../template/render.ts'
import type { Scope } from '../template/scope.ts'
import { compileTemplate, hasTemplateSyntax } from '../template/template.ts'
import { positiveInteger } from './collection.ts'
import type { CommandPlan } from './command-plan.ts'
import { planOf } from './command-plan.ts'
import { pipelineConfig } from './pipeline-config.ts'
import { ResultMissing, ResultNeeded } from './reference.ts'
import { renderEarly } from './render-early.ts'
import type { Locals } from './scope.ts'
import { plainOf, wholeContext } from './scope.ts'
import type { Session } from './session.ts'
import { emit, scopeOf } from './session.ts'

export interface Iteration {
  readonly index: number
  readonly total: number
  readonly item: Json
  /** Frame of a cursor loop; null in a collection loop. */
  readonly frame: number | null
}

const MAX_ATTEMPTS = 3

/** The tool that runs another playbook; the control plane itself works on its commands. */
export const CHILD_KIND = 'playbook'

export const issueCommand = (session: Session, step: Step, iteration: Iteration | null): void => {
  const { state, environment } = session
  const locals = iteration ? iterationLocals(step, iteration) : undefined
  const scope = scopeOf(session, locals)
  const plan = planOf(step)
  const eventId = environment.nextId()
  const commandId = `${state.executionId}:${step.name}:${eventId}${iteration ? `:i${iteration.index}` : ''}`
  const event = emit(session, {
    eventId,
    eventType: EVENT.commandIssued,
    nodeName: step.name,
    nodeType: plan.toolKind,
    status: 'PENDING',
    context: {
      tool_config: plan.pipeline ? pipelineConfig(step, plan, scope) : toolConfig(plan, scope),
      args: commandInput(step, plan, scope, iteration),
      render_context: renderContext(session, plan, scope, locals),
    },
    meta: commandMeta(session, step, plan, commandId, iteration),
  })
  session.issued.push(event)
}

/** The command that asks the cursor of a loop for its next rows. */
export const issueClaim = (session: Session, step: Step, frame: number): void => {
  const { state, environment } = session
  const cursor = step.loop?.cursor
  if (!cursor) throw new Error('has no cursor')
  const maxRows = positiveInteger('max_rows', cursor.maxRows, scopeOf(session))
  const scope = scopeOf(session, { __frame_max_rows: maxRows })
  const text = compileTemplate(cursor.claim).text(scope)
  const eventId = environment.nextId()
  const commandId = `${state.executionId}:${step.name}:${eventId}`
  const event = emit(session, {
    eventId,
    eventType: EVENT.commandIssued,
    nodeName: step.name,
    nodeType: cursor.kind,
    status: 'PENDING',
    context: {
      tool_config: {
        kind: cursor.kind,
        command: text,
        ...(cursor.auth === null ? {} : { auth: renderValue(cursor.auth, scope) }),
      },
      args: {},
      render_context: {},
    },
    meta: {
      ...baseMeta(session, step, cursor.kind, commandId),
      cursor: { phase: 'claim', step: step.name, frame },
    },
  })
  session.issued.push(event)
}

const iterationLocals = (step: Step, { index, total, item }: Iteration): Locals => {
  const name = step.loop?.iterator ?? 'item'
  const first = index === 0
  const last = index === total - 1
  return {
    [name]: item,
    iter: { [name]: item, _index: index, index, _total: total, _first: first, _last: last },
    _index: index,
    _total: total,
    loop_index: index,
    loop: { index, first, last, length: total },
  }
}

const toolConfig = ({ task, config, late, hasCode }: CommandPlan, scope: Scope): Json => {
  if (!hasCode) return { kind: task.kind, ...(renderEarly(config, scope, late) as JsonObject) }
  const { code = '', ...rest } = config
  const isLate = late.some(([key]) => key === 'code')
  return {
    kind: task.kind,
    ...(renderEarly(rest, scope, late) as JsonObject),
    code: isLate ? code : renderCode(code, scope),
  }
}

/** Program text may hold braces that only look like a template: what does not render, or reads unknown names, stays. */
const renderCode = (code: Json, scope: Scope): Json => {
  if (typeof code !== 'string' || !hasTemplateSyntax(code)) return code
  try {
    const template = compileTemplate(code)
    const known = [...template.roots].every((root) => scope.lookup(root) !== undefined)
    return known ? template.text(scope) : code
  } catch (error) {
    if (error instanceof ResultNeeded || error instanceof ResultMissing) throw error
    return code
  }
}

/** The input over the iteration variables. */
const commandInput = (
  step: Step,
  { input }: CommandPlan,
  scope: Scope,
  iteration: Iteration | null,
): JsonObject => {
  const own = renderValue(input, scope) as JsonObject
  if (!iteration) return own
  const name = step.loop?.iterator ?? 'item'
  return { [name]: iteration.item, _index: iteration.index, _total: iteration.total, ...own }
}

const NOTHING: JsonObject = {}

const renderContext = (
  session: Session,
  plan: CommandPlan,
  scope: Scope,
  locals: Locals | undefined,
): JsonObject => {
  if (plan.lateRoots.length === 0 && !plan.needsEverything) return NOTHING
  const context: Record<string, Json> = plan.needsEverything
    ? { ...wholeContext(session.graph, session.state, session.environment.resolve, locals) }
    : {}
  for (const root of plan.lateRoots) {
    const value = scope.lookup(root)
    if (value !== undefined) context[root] = plainOf(value)
  }
  return context
}

/** Which of the variables are results of steps, and of which shape: late templates give them their conveniences back. */
const stepResults = ({ graph, state }: Session, plan: CommandPlan): JsonObject => {
  if (plan.lateRoots.length === 0 && !plan.needsEverything) return NOTHING
  const names = plan.needsEverything
    ? [...state.steps.keys()]
    : plan.lateRoots.filter((root) => state.steps.has(root))
  const marks = names.flatMap((name): [string, Json][] => {
    const run = state.steps.get(name)
    if (run?.data === undefined || Object.hasOwn(state.vars, name)) return []
    const { body } = graph.step(name)
    return [
      [name, run.looped ? 'loop' : body.kind === 'pipeline' ? body.tasks.map((task) => task.label) : 'data'],
    ]
  })
  return { step_results: Object.fromEntries(marks) }
}

const baseMeta = ({ state }: Session, step: Step, toolKind: string, commandId: string): JsonObject => ({
  emitted_by: 'orchestrator',
  command_id: commandId,
  step: step.name,
  tool_kind: toolKind,
  max_attempts: MAX_ATTEMPTS,
  attempt: 1,
  execution_id: state.executionId,
  catalog_id: state.catalogId,
  actionable: true,
  ...(state.trace === null ? {} : { trace: state.trace }),
})

const commandMeta = (
  session: Session,
  step: Step,
  plan: CommandPlan,
  commandId: string,
  iteration: Iteration | null,
): JsonObject => ({
  ...baseMeta(session, step, plan.toolKind, commandId),
  ...(iteration
    ? {
        iteration_index: iteration.index,
        iteration_total: iteration.total,
        iterator_step: step.name,
        item_var: step.loop?.iterator ?? 'item',
      }
    : {}),
  ...(iteration !== null && iteration.frame !== null
    ? { cursor: { phase: 'body', step: step.name, frame: iteration.frame, row: iteration.index } }
    : {}),
  ...(plan.toolKind === CHILD_KIND ? { depth: session.state.depth } : {}),
  ...(plan.late.length > 0 ? { late: plan.late } : {}),
  ...stepResults(session, plan),
  ...(plan.unwrap ? { unwrap: true } : {}),
  ...(step.timeoutMs === null ? {} : { timeout_ms: step.timeoutMs }),
})
