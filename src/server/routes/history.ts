/** Looking at history: the state at any place, why a step did what it did, two executions beside each other. */
import type { FastifyInstance } from 'fastify'
import {
  DiffAnswer,
  DiffQuery,
  ExplainAnswer,
  ExplainQuery,
  StateAnswer,
  StateQuery,
} from '../../contract/api-history.ts'
import { ProblemError } from '../../contract/problem.ts'
import { readEventAt } from '../../store/events.ts'
import type { ServerContext } from '../app.ts'
import { demandRow, positionOf } from '../history/cutoff.ts'
import { diffExecutions } from '../history/diff.ts'
import { explainStep } from '../history/explain.ts'
import { NO_FACTS, readWaitFacts, stateAnswer } from '../history/state-answer.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'
import { maySeeSecrets, refuseSecrets } from '../secret-access.ts'
import { keepNearby, loadStateAt } from '../state-loader.ts'

const tag = 'history'

export const historyRoutes = (app: FastifyInstance, context: ServerContext): void => {
  stateRoute(app, context)
  explainRoute(app, context)
  diffRoute(app, context)
}

const stateRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/state',
      name: 'executionState',
      tag,
      access: 'viewer',
      summary: 'The state of an execution at an event, a position or an instant',
      description:
        'Variables, steps, tokens, loops and open commands with what each waits for. Without a cutoff, as it is now. Large data is summarised; with `step` that step alone is shown, whole.',
      query: StateQuery,
      answer: StateAnswer,
      problems: ['not_found', 'forbidden'],
    },
    async ({ request, reply, query: { step, include_secrets, ...cutoff } }) => {
      if (include_secrets && !maySeeSecrets(request)) return refuseSecrets(reply)
      const row = await demandRow(core, pathId(request, 'execution_id'))
      const { execution_id: id, version } = row
      const database = core.shards.of(id)
      const position = await positionOf(core, row, cutoff)
      const [state, event] = await Promise.all([
        loadStateAt(database, id, core.sealer, position),
        readEventAt(database, id, position, null),
      ])
      if (!state?.status || !event)
        throw new ProblemError(
          'not_found',
          `Execution ${id} has no log of this engine at position ${position}`,
        )
      const { graph } = await core.playbooks.byId(state.catalogId)
      if (step !== null && !graph.playbook.steps.some(({ name }) => name === step))
        throw new ProblemError('not_found', `Step '${step}' is not in the playbook`)
      // After the answer: nobody waits for that.
      setImmediate(() => {
        keepNearby(database, state, core.sealer).catch((error: unknown) =>
          core.log.warn({ execution_id: id, error }, 'snapshot not written'),
        )
      })
      return stateAnswer({
        graph,
        state,
        eventId: event.eventId,
        at: event.createdAt,
        lastPosition: version,
        step,
        secrets: include_secrets,
        facts: position === version ? await readWaitFacts(database, state) : NO_FACTS,
      })
    },
  )

const explainRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/explain',
      name: 'explainStep',
      tag,
      access: 'viewer',
      summary: 'Why a step ran, did not run, or waits',
      description:
        'The arcs into it with their conditions and the values those saw, joins, guards, failures before it. What is not recorded is evaluated again on the state of that moment and marked `evaluated_again`.',
      query: ExplainQuery,
      answer: ExplainAnswer,
      problems: ['not_found'],
    },
    async ({ request, query: { step, run, ...cutoff } }) => {
      const row = await demandRow(core, pathId(request, 'execution_id'))
      const position = await positionOf(core, row, cutoff)
      return explainStep(core, {
        executionId: row.execution_id,
        step,
        run: run ?? null,
        position,
        isEnd: position === row.version,
      })
    },
  )

const diffRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/diff',
      name: 'diffExecutions',
      tag,
      access: 'viewer',
      summary: 'Two executions beside each other',
      description:
        'The first difference, then inputs, the way taken, results and timings, step by step. Ids of the executions themselves and the order of parallel branches are no differences.',
      query: DiffQuery,
      answer: DiffAnswer,
      problems: ['not_found'],
    },
    ({ query: { a, b } }) => diffExecutions(core, a, b),
  )
