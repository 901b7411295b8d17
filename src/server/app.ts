/** The HTTP face of the control plane. */
import Fastify from 'fastify'
import type { FastifyInstance } from 'fastify'
import type { Wallet } from '../lib/envelope.ts'
import type { Core } from './core.ts'
import { createErrorHandler, installErrorHandlers, installJsonParser, refuseBrokenRequest } from './http.ts'
import type { Leases } from './leases.ts'
import { catalogRoutes } from './routes/catalog.ts'
import { commandRoutes } from './routes/commands.ts'
import { credentialRoutes } from './routes/credentials.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { eventRoutes } from './routes/events.ts'
import { executeRoutes } from './routes/execute.ts'
import { executionRoutes } from './routes/executions.ts'
import { healthRoutes } from './routes/health.ts'
import { playbookLanguageRoutes } from './routes/playbook-language.ts'
import { keychainRoutes } from './routes/keychain.ts'
import { resultRoutes } from './routes/results.ts'
import { streamRoutes } from './routes/stream.ts'
import { systemRoutes } from './routes/system.ts'
import { variableRoutes } from './routes/variables.ts'
import { walletRoutes } from './routes/wallet.ts'
import { workerPoolRoutes } from './routes/worker-pools.ts'

export interface ServerContext {
  readonly core: Core
  readonly leases: Leases
  readonly version: string
  /** Aborts when the server stops: streams and long polls end. */
  readonly closing: AbortSignal
  /** Seals credentials and keychain entries; without it their routes answer 503. */
  readonly wallet?: Wallet
  /** Opens `/api/internal/*`; without it those routes answer 503. */
  readonly internalToken?: string | null
}

const ROUTE_GROUPS = [
  healthRoutes,
  catalogRoutes,
  playbookLanguageRoutes,
  executeRoutes,
  executionRoutes,
  eventRoutes,
  commandRoutes,
  streamRoutes,
  credentialRoutes,
  walletRoutes,
  keychainRoutes,
  variableRoutes,
  resultRoutes,
  workerPoolRoutes,
  systemRoutes,
  dashboardRoutes,
]

const BODY_LIMIT = 16 * 1024 * 1024

export const createApp = (context: ServerContext): FastifyInstance => {
  const handleError = createErrorHandler(context.core.log)
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    logger: false,
    forceCloseConnections: true,
    // Names of credentials, variables and steps stand in paths; the default of 100 characters is too short for them.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2000 },
    frameworkErrors: (error, request, reply) => void handleError(error, request, reply),
    clientErrorHandler: refuseBrokenRequest,
  })
  installJsonParser(app)
  installErrorHandlers(app, context.core.log)
  for (const routes of ROUTE_GROUPS) routes(app, context)
  return app
}
