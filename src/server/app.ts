/** The HTTP face of the control plane. */
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { Core } from './core.ts'
import { createErrorHandler, installErrorHandlers, installJsonParser, refuseBrokenRequest } from './http.ts'
import type { Leases } from './leases.ts'
import { catalogRoutes } from './routes/catalog.ts'
import { commandRoutes } from './routes/commands.ts'
import { eventRoutes } from './routes/events.ts'
import { executeRoutes } from './routes/execute.ts'
import { executionRoutes } from './routes/executions.ts'
import { healthRoutes } from './routes/health.ts'
import { streamRoutes } from './routes/stream.ts'

export interface ServerContext {
  readonly core: Core
  readonly leases: Leases
  readonly version: string
  /** Aborts when the server stops: streams and long polls end. */
  readonly closing: AbortSignal
}

const BODY_LIMIT = 16 * 1024 * 1024

export const createApp = (context: ServerContext): FastifyInstance => {
  const handleError = createErrorHandler(context.core.log)
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    logger: false,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    clientErrorHandler: refuseBrokenRequest,
  })
  installJsonParser(app)
  installErrorHandlers(app, context.core.log)
  for (const routes of [healthRoutes, catalogRoutes, executeRoutes, executionRoutes, eventRoutes, commandRoutes, streamRoutes]) {
    routes(app, context)
  }
  return app
}
