/** Running executions again: as a new one, or in place. */
import type { FastifyInstance } from 'fastify'
import { RerunAnswer, RerunRequest, RetryAnswer, RetryRequest } from '../../contract/api-history.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { ServerContext } from '../app.ts'
import { demandRow } from '../history/cutoff.ts'
import { rerun } from '../history/rerun.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'

const tag = 'history'

export const rerunRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/executions/:execution_id/rerun',
      name: 'rerunExecution',
      tag,
      access: 'run',
      summary: 'Run an execution again, as a new one',
      description:
        "`from` is 'start', 'failed', {step}, {event_id} or {position}. Results before that are kept, everything else runs again. The version and the workload are those of the origin unless others are given.",
      body: RerunRequest,
      answer: RerunAnswer,
      problems: ['not_found', 'conflict'],
    },
    async ({ request, body }) => {
      const { executionId, status, commandsGenerated, origin, ...rest } = await rerun(
        core,
        pathId(request, 'execution_id'),
        body,
      )
      return {
        execution_id: executionId,
        status,
        commands_generated: commandsGenerated,
        origin_execution_id: origin.executionId,
        origin_event: origin.eventId,
        catalog_id: rest.catalogId,
        kept_steps: rest.kept,
        dropped_steps: rest.dropped,
      }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/executions/:execution_id/retry',
      name: 'retryExecution',
      tag,
      access: 'operator',
      summary: 'Open a failed or cancelled execution again and run what failed in it',
      description:
        'Steps that failed run again, loops go on with the iterations that are not done, and the execution may end again. `steps` chooses among the failed steps.',
      body: RetryRequest,
      answer: RetryAnswer,
      problems: ['not_found', 'conflict'],
    },
    async ({ request, body: { steps, variables, reason } }) => {
      const row = await demandRow(core, pathId(request, 'execution_id'))
      const { execution_id: id } = row
      if (row.imported)
        throw new ProblemError(
          'conflict',
          `Execution ${id} was imported and is only shown here; rerun it instead`,
        )
      const { state, commandsGenerated } = await core.demand(id, {
        type: 'reopen',
        steps: steps ?? null,
        variables: variables ?? {},
        reason: reason ?? null,
      })
      return {
        execution_id: id,
        status: 'reopened',
        steps: [...(state?.running ?? [])],
        commands_generated: commandsGenerated,
      }
    },
  )
}
