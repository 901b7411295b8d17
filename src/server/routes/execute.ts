import type { FastifyInstance } from 'fastify'
import { ExecuteRequest } from '../../contract/api.ts'
import type { ServerContext } from '../app.ts'
import { execute } from '../execute.ts'
import { check } from '../http.ts'

export const executeRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  app.post('/api/execute', (request) => execute(core, check(ExecuteRequest, request.body)))
}
