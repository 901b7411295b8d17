/**
 * Explanations of steps, from the log. Only the stretch that matters is read: from the first time a step before it was
 * left, after its former activation, up to its own activation or the place asked for.
 */
import { redact } from '../../contract/sensitive.ts'
import type { Json } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { evolve } from '../../engine/evolve.ts'
import type { Explanation } from '../../engine/explain.ts'
import { createExplainer } from '../../engine/explain.ts'
import type { Judged } from '../../engine/explain-arcs.ts'
import { explanationText } from '../../engine/explain-text.ts'
import type { Graph } from '../../engine/graph.ts'
import { ResultMissing, ResultNeeded } from '../../engine/reference.ts'
import type { State } from '../../engine/state.ts'
import { createState } from '../../engine/state.ts'
import { summarise } from '../../contract/summary.ts'
import { isLargerThan } from '../../lib/json-size.ts'
import { readForFold } from '../../store/fold-events.ts'
import type { Core } from '../core.ts'
import { loadStateAt } from '../state-loader.ts'
import type { WaitFacts } from './state-answer.ts'
import { NO_FACTS, readWaitFacts, waitAnswer } from './state-answer.ts'
import type { Stretch } from '../../store/step-events.ts'
import { findStretch } from '../../store/step-events.ts'

export interface ExplainRequest {
  readonly executionId: string
  readonly step: string
  readonly run: number | null
  /** The place to look from. */
  readonly position: number
  readonly isEnd: boolean
}

export const explainStep = async (core: Core, request: ExplainRequest) => {
  const { executionId, step, position } = request
  const database = core.shards.of(executionId)
  const now = await loadStateAt(database, executionId, core.sealer, position)
  if (!now) throw new ProblemError('not_found', `Execution not found: ${executionId}`)
  const { graph } = await core.playbooks.byId(now.catalogId)
  const names = graph.playbook.steps.map(({ name }) => name)
  if (!names.includes(step))
    throw new ProblemError('invalid', `Step '${step}' is not in the playbook; it has: ${names.join(', ')}`)
  const explanation = await observe(core, graph, now, request)
  if (!explanation)
    throw new ProblemError('not_found', `Step '${step}' has no run ${request.run} up to position ${position}`)
  const facts = request.isEnd ? await readWaitFacts(database, now) : NO_FACTS
  return explainAnswer(now, explanation, facts)
}

/** Data stored apart that a condition reads is fetched, and the stretch is read again with it. */
const observe = async (
  core: Core,
  graph: Graph,
  now: State,
  request: ExplainRequest,
): Promise<Explanation | null> => {
  for (;;) {
    try {
      return await readStretch(core, graph, now, request)
    } catch (error) {
      if (!(error instanceof ResultNeeded)) throw error
      await core.largeResults.fetch(error.ref).catch((problem: unknown) => {
        if (!(problem instanceof ResultMissing)) throw problem
      })
    }
  }
}

const readStretch = async (
  core: Core,
  graph: Graph,
  now: State,
  { executionId, step, run, position }: ExplainRequest,
): Promise<Explanation | null> => {
  const database = core.shards.of(executionId)
  const before = graph.playbook.steps.filter(({ arcs }) => arcs.some(({ to }) => to === step))
  const stretch = await findStretch(database, executionId, {
    step,
    sources: before.map(({ name }) => name),
    // A pending activation of the step has the stretch to itself.
    run: run ?? (now.tokens.some(({ to }) => to === step) ? null : 'last'),
    upTo: position,
  })
  const found = await readBetween(core, graph, now, { executionId, step, run }, stretch)
  // Runs are counted by the state: where one was no entry, the stretch of a number is that of another run.
  if (found || run === null || stretch.from === 1) return found
  return readBetween(core, graph, now, { executionId, step, run }, { from: 1, upTo: position })
}

const readBetween = async (
  core: Core,
  graph: Graph,
  now: State,
  { executionId, step, run }: Pick<ExplainRequest, 'executionId' | 'step' | 'run'>,
  stretch: Stretch,
): Promise<Explanation | null> => {
  const database = core.shards.of(executionId)
  const { sealer } = core
  const from = Math.max(0, stretch.from - 1)
  const state =
    from === 0
      ? createState(executionId)
      : ((await loadStateAt(database, executionId, sealer, from)) ?? createState(executionId))
  const explainer = createExplainer(graph, step, core.largeResults.resolve)
  for await (const events of readForFold(database, executionId, {
    after: from,
    upTo: stretch.upTo,
    sealer,
  })) {
    for (const event of events) {
      explainer.observe(state, event)
      evolve(state, event)
    }
  }
  return explainer.explain(now, run)
}

const explainAnswer = (state: State, explanation: Explanation, facts: WaitFacts) => {
  const clean = redacted(explanation)
  const { decidedBy } = clean
  return {
    execution_id: state.executionId,
    position: state.position,
    step: clean.step,
    run: clean.run,
    verdict: clean.verdict,
    text: explanationText(clean),
    decided_by: decidedBy && { event_id: decidedBy.eventId, position: decidedBy.position, at: decidedBy.at },
    brought_by: clean.broughtBy,
    arcs: clean.arcs.map((arc) => ({
      from: arc.from,
      from_run: arc.fromRun,
      index: arc.index,
      fired: arc.fired,
      reason: arc.reason,
      position: arc.position,
      event_id: arc.eventId,
      evaluated_again: arc.evaluatedAgain,
      ...judgedAnswer(arc),
    })),
    upstreams: clean.upstreams,
    guards: clean.guards.map((guard) => ({
      kind: guard.kind,
      evaluated_again: guard.when !== null,
      ...judgedAnswer(guard),
    })),
    join: clean.join,
    failed_upstreams: clean.failedUpstreams,
    waits: clean.waits.map(({ commandId, index, ...wait }) => ({
      command_id: commandId,
      index,
      ...waitAnswer(
        state,
        { commandId, toolKind: state.commands.get(commandId)?.toolKind ?? '' },
        wait,
        facts,
      ),
    })),
    error: clean.error,
    policy: { on_error: clean.onError, handled: clean.handled },
  }
}

const judgedAnswer = ({ when, holds, values, problem }: Judged) => ({ when, holds, values, problem })

const SHOWN_BYTES = 2048

const redacted = (explanation: Explanation): Explanation => {
  const show = (value: Json): Json => {
    const clean = redact(value)
    return isLargerThan(clean, SHOWN_BYTES) ? summarise(clean) : clean
  }
  // By whole paths: the last word of one tells whether its value is a secret.
  const clean = <J extends Judged>(judged: J): J => ({
    ...judged,
    values: Object.fromEntries(
      Object.entries(redact(judged.values) as Record<string, Json>).map(([path, value]) => [
        path,
        show(value),
      ]),
    ),
  })
  return {
    ...explanation,
    arcs: explanation.arcs.map(clean),
    guards: explanation.guards.map(clean),
    error: redact(explanation.error) as string | null,
  }
}
