import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ExecuteAnswer, ExecuteBatchAnswer } from '../../contract/answers-execute.ts'
import { ExecuteBatchRequest, ExecuteRequest } from '../../contract/api.ts'
import { PROBLEM_PREFIX, ProblemError } from '../../contract/problem.ts'
import { traceOfHeaders } from '../../contract/trace.ts'
import { toProblem } from '../../store/failure.ts'
import type { ServerContext } from '../app.ts'
import type { Started } from '../execute.ts'
import { execute } from '../execute.ts'
import { check } from '../http.ts'
import { route } from '../route.ts'

const MAX_BATCH = 1000
const tag = 'execute'

type Item = {
  readonly index: number
  readonly status: 'started' | 'duplicate' | 'error'
  readonly execution_id?: string
  readonly commands_generated: number
  readonly error?: string
}

type Outcome = 'new' | 'duplicate' | 'error'

export const executeRoutes = (app: FastifyInstance, { core, metrics }: ServerContext): void => {
  const count = (entry: 'single' | 'batch', outcome: Outcome): void =>
    metrics?.executes.total.inc({ entry, outcome })
  route(
    app,
    {
      method: 'POST',
      url: '/api/execute',
      name: 'execute',
      tag,
      access: 'run',
      summary: 'Start an execution of a playbook',
      description:
        'With `dedup` the request can be sent again: within the window the same key answers the execution that the first request started, with status `duplicate`. The execution joins the trace of its caller: `trace` of the body, else the headers `traceparent` and `tracestate`.',
      body: ExecuteRequest,
      answer: ExecuteAnswer,
      problems: ['bad_request', 'not_found'],
    },
    async ({ body, request }) => {
      try {
        const started = await execute(core, withTrace(body, request))
        count('single', started.status === 'duplicate' ? 'duplicate' : 'new')
        return started
      } catch (error) {
        count('single', 'error')
        throw error
      }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/execute/batch',
      name: 'executeBatch',
      tag,
      access: 'run',
      summary: 'Start several executions',
      description:
        'Items are independent of each other; each is answered for itself. An item without `trace` joins the trace of the headers.',
      body: ExecuteBatchRequest,
      answer: ExecuteBatchAnswer,
    },
    async ({ body: { executions }, request }) => {
      if (executions.length > MAX_BATCH) {
        throw new ProblemError(
          'invalid',
          `execute batch size ${executions.length} exceeds the ${MAX_BATCH} cap`,
        )
      }
      metrics?.executes.batch.observe(executions.length)
      const results = await Promise.all(executions.map((item, index) => startItem(item, index, request)))
      const having = (status: Item['status']): number =>
        results.filter((result) => result.status === status).length
      for (const { status } of results) count('batch', status === 'started' ? 'new' : status)
      return {
        count: results.length,
        started: having('started'),
        duplicates: having('duplicate'),
        failed: having('error'),
        results,
      }
    },
  )

  const startItem = async (item: unknown, index: number, request: FastifyRequest): Promise<Item> => {
    try {
      const started: Started = await execute(core, withTrace(check(ExecuteRequest, item), request))
      return { index, ...started }
    } catch (error) {
      const problem = error instanceof ProblemError ? error : toProblem(error)
      if (!(problem instanceof ProblemError)) throw error
      return {
        index,
        status: 'error',
        commands_generated: 0,
        error: `${PROBLEM_PREFIX[problem.code]}: ${problem.message}`,
      }
    }
  }
}

/** What the body says about the trace wins over the headers. */
const withTrace = (body: ExecuteRequest, { headers }: FastifyRequest): ExecuteRequest => {
  const trace = body.trace ?? traceOfHeaders(headers)
  return trace === null ? body : { ...body, trace }
}
