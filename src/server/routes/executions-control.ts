/** Ending executions from outside. */
import type { FastifyInstance } from 'fastify'
import {
  CancelAnswer,
  CancelRequest,
  CleanupAnswer,
  CleanupRequest,
  FinalizeAnswer,
  FinalizeRequest,
} from '../../contract/api-executions.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { listRunningSince } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import { cancelExecution, cancelExecutions } from '../cancel.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'

const tag = 'executions'

export const executionControlRoutes = (app: FastifyInstance, context: ServerContext): void => {
  cancelRoutes(app, context)
  finalizeRoute(app, context)
  cleanupRoute(app, context)
}

const cancelRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  for (const [verb, note] of [
    ['cancel', {}],
    ['stop', { deprecated: true, description: 'Another name of `cancel`.' }],
  ] as const) {
    route(
      app,
      {
        ...note,
        method: 'POST',
        url: `/api/executions/:execution_id/${verb}`,
        name: `${verb}Execution`,
        tag,
        access: 'operator',
        summary: 'Cancel an execution and, unless told otherwise, everything below it',
        body: CancelRequest,
        answer: CancelAnswer,
        problems: ['not_found', 'conflict'],
      },
      async ({ request, body: { reason, cascade } }) => {
        const id = pathId(request, 'execution_id')
        const cancelled = await cancelExecution(core, id, {
          reason: reason ?? null,
          cascade: cascade ?? true,
        })
        return {
          execution_id: rawInteger(id),
          status: 'cancelled',
          message: 'Execution cancellation requested',
          cancelled_executions: cancelled,
        }
      },
    )
  }
}

const finalizeRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'POST',
      url: '/api/executions/:execution_id/finalize',
      name: 'finalizeExecution',
      tag,
      access: 'operator',
      summary: 'End an execution by hand',
      description: 'A body with only a `reason` ends it as FAILED for that reason.',
      body: FinalizeRequest,
      answer: FinalizeAnswer,
      problems: ['not_found', 'conflict'],
    },
    async ({ request, body: { status = 'FAILED', error, reason } }) => {
      const id = pathId(request, 'execution_id')
      if (status !== 'COMPLETED' && status !== 'FAILED')
        throw new ProblemError('invalid', `Invalid finalization status: ${status}`)
      await core.demand(id, { type: 'finalize', status, error: error ?? reason ?? null })
      return { execution_id: rawInteger(id), status, message: `Execution finalized with status: ${status}` }
    },
  )

const MINUTE_MS = 60_000

const cleanupRoute = (app: FastifyInstance, { core }: ServerContext): void =>
  route(
    app,
    {
      method: 'POST',
      url: '/api/executions/cleanup',
      name: 'cleanUpExecutions',
      tag,
      access: 'operator',
      summary: 'Cancel executions that run for longer than they should',
      description:
        'Oldest first, with everything below them. With `dry_run` nothing is cancelled, and the answer tells what would be.',
      body: CleanupRequest,
      answer: CleanupAnswer,
    },
    async ({ body: { older_than_minutes: minutes, dry_run, limit } }) => {
      const before = new Date(Date.now() - minutes * MINUTE_MS)
      const found = await Promise.all(
        core.shards.all.map((database) => listRunningSince(database, before, limit + 1)),
      )
      const stuck = found.flat().sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
      const chosen = stuck.slice(0, limit)
      const reason = `Running for more than ${minutes} minutes`
      const ids = dry_run ? chosen : await cancelExecutions(core, chosen, reason)
      return {
        cancelled_count: ids.length,
        execution_ids: ids,
        message: `${dry_run ? 'Would cancel' : 'Cancelled'} ${ids.length} executions that run for more than ${minutes} minutes`,
        dry_run,
        more: stuck.length > chosen.length,
      }
    },
  )
