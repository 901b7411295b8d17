import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ExecuteRequest } from '../../contract/api.ts'
import { PROBLEM_PREFIX, ProblemError } from '../../contract/problem.ts'
import { toProblem } from '../../store/failure.ts'
import type { ServerContext } from '../app.ts'
import type { Started } from '../execute.ts'
import { execute } from '../execute.ts'
import { check } from '../http.ts'

const MAX_BATCH = 1000

const BatchRequest = z.object({
  executions: z
    .array(z.unknown(), { error: "execute batch requires a non-empty 'executions' array" })
    .min(1, { error: "execute batch requires a non-empty 'executions' array" }),
})

type Item = {
  readonly index: number
  readonly status: 'started' | 'duplicate' | 'error'
  readonly execution_id?: string
  readonly commands_generated: number
  readonly error?: string
}

export const executeRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  app.post('/api/execute', (request) => execute(core, check(ExecuteRequest, request.body)))

  /** Items are independent of each other; each is answered for itself. */
  app.post('/api/execute/batch', async (request) => {
    const { executions } = check(BatchRequest, request.body)
    if (executions.length > MAX_BATCH) {
      throw new ProblemError(
        'invalid',
        `execute batch size ${executions.length} exceeds the ${MAX_BATCH} cap`,
      )
    }
    const results = await Promise.all(executions.map((item, index) => startItem(item, index)))
    const count = (status: Item['status']): number =>
      results.filter((result) => result.status === status).length
    return {
      count: results.length,
      started: count('started'),
      duplicates: count('duplicate'),
      failed: count('error'),
      results,
    }
  })

  const startItem = async (item: unknown, index: number): Promise<Item> => {
    try {
      const started: Started = await execute(core, check(ExecuteRequest, item))
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
