/** A container that a step waits for has ended: whoever watches containers says so, and the execution goes on. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ContainerCallbackAnswer } from '../../contract/answers-internal.ts'
import { ContainerCallbackRequest } from '../../contract/api-internal.ts'
import { EVENT } from '../../contract/event.ts'
import { parseId } from '../../contract/ids.ts'
import type { JsonObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { ReportInput } from '../../engine/input.ts'
import { readExecution } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import { toError } from '../core.ts'
import { route } from '../route.ts'

const STALE = { status: 'accepted_stale' } as const

export const containerRoutes = (app: FastifyInstance, { core, metrics }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/container-callback/:execution_id/:step',
      name: 'containerEnded',
      tag: 'internal',
      access: 'internal',
      summary: 'Say that the container of a step has ended',
      description: 'A step that does not wait for one, or any more, is left as it is: `accepted_stale`.',
      body: ContainerCallbackRequest,
      answer: ContainerCallbackAnswer,
      status: 202,
      problems: ['invalid'],
    },
    async ({ request, reply, body }) => {
      const { executionId, step } = placeOf(request)
      void reply.code(202)
      const stale = (): typeof STALE => {
        metrics?.others.staleCallbacks.inc({ state: body.state })
        return STALE
      }
      const row = await readExecution(core.shards.of(executionId), executionId)
      if (row?.status !== 'RUNNING') return stale()
      const { reply: answer } = await core.tell(executionId, reportOf(step, body))
      if (!answer.ok) {
        if (answer.problem.code === 'not_found') return stale()
        throw toError(answer.problem)
      }
      return answer.duplicate ? stale() : { status: 'accepted_in_flight', event_id: answer.eventId }
    },
  )
}

const placeOf = (request: FastifyRequest): { executionId: string; step: string } => {
  const { execution_id, step } = request.params as { execution_id: string; step: string }
  const executionId = parseId(execution_id)
  if (executionId === null) throw new ProblemError('invalid', `Invalid execution_id: ${execution_id}`)
  if (step.trim() === '') throw new ProblemError('invalid', 'step must not be blank')
  return { executionId, step }
}

/** What is worth another try: the container is not to blame. */
const RETRYABLE: ReadonlySet<string> = new Set(['failed_node_lost', 'failed_image_pull'])

const reportOf = (step: string, body: ContainerCallbackRequest): ReportInput => {
  const { state, result, ...facts } = body
  const told: JsonObject = Object.fromEntries(
    Object.entries(facts).flatMap(([key, value]) =>
      value === undefined || value === null ? [] : [[key, value]],
    ),
  )
  const ok = state === 'succeeded'
  const data: JsonObject = { state, ...told, ...result }
  const error = {
    kind: 'container',
    code: state.toUpperCase(),
    message: `Container ${body.job_name} ended as ${state}${body.reason ? `: ${body.reason}` : ''}`,
    retryable: RETRYABLE.has(state),
    ...(body.exit_code === undefined || body.exit_code === null ? {} : { exit_code: body.exit_code }),
  }
  return {
    type: 'report',
    eventType: EVENT.callDone,
    step,
    commandId: null,
    leaseToken: null,
    workerId: null,
    eventId: null,
    status: ok ? 'COMPLETED' : 'FAILED',
    context: { status: ok ? 'success' : 'error', data, ...(ok ? {} : { error }) },
    reference: null,
    meta: { source: 'container_callback' },
    createdAt: null,
    durationMs: null,
  }
}
