/** The HTTP face of the control plane. */
import Fastify from 'fastify'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Wallet } from '../lib/envelope.ts'
import { setSafetyHeaders } from './access/answer-headers.ts'
import { createAuditTrail } from './access/audit-trail.ts'
import type { AccessControl } from './access/install.ts'
import { installAccess, openAccess } from './access/install.ts'
import type { Core } from './core.ts'
import { createErrorHandler, installErrorHandlers, installJsonParser, refuseBrokenRequest } from './http.ts'
import { installLargeBodies } from './large-data/large-bodies.ts'
import type { Leases } from './leases.ts'
import type { Metrics } from './metrics/metrics.ts'
import { installRequestMetrics } from './metrics/request-metrics.ts'
import { accessTokenRoutes, sessionRoutes } from './routes/access-tokens.ts'
import { apiDocumentRoutes } from './routes/api-document.ts'
import { auditRoutes } from './routes/audit.ts'
import { catalogPlaybookRoutes } from './routes/catalog-playbooks.ts'
import { catalogUiSchemaRoutes } from './routes/catalog-ui-schema.ts'
import { catalogVersionRoutes } from './routes/catalog-versions.ts'
import { catalogRoutes } from './routes/catalog.ts'
import { commandRoutes } from './routes/commands.ts'
import { credentialRoutes } from './routes/credentials.ts'
import { databaseRoutes } from './routes/database.ts'
import { dashboardRoutes } from './routes/dashboard.ts'
import { doctorRoutes } from './routes/doctor.ts'
import { eventRoutes } from './routes/events.ts'
import { executeRoutes } from './routes/execute.ts'
import { executionControlRoutes } from './routes/executions-control.ts'
import { executionEventRoutes } from './routes/executions-events.ts'
import { executionRoutes } from './routes/executions.ts'
import { healthRoutes } from './routes/health.ts'
import { historyRoutes } from './routes/history.ts'
import { playbookLanguageRoutes } from './routes/playbook-language.ts'
import { keychainRecipeRoutes } from './routes/keychain-recipe.ts'
import { cleanupRoutes } from './routes/internal-cleanup.ts'
import { containerRoutes } from './routes/internal-container.ts'
import { internalEventRoutes } from './routes/internal-events.ts'
import { fileRoutes } from './routes/internal-files.ts'
import { ingressRoutes } from './routes/internal-ingress.ts'
import { outboxRoutes } from './routes/internal-outbox.ts'
import { keychainRoutes } from './routes/keychain.ts'
import { logRoutes } from './routes/logs.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { replayRoutes } from './routes/replay.ts'
import { rerunRoutes } from './routes/rerun.ts'
import { resultRoutes } from './routes/results.ts'
import { rootRoutes } from './routes/root.ts'
import { streamRoutes } from './routes/stream.ts'
import { subscriptionRoutes } from './routes/subscriptions.ts'
import { systemRoutes } from './routes/system.ts'
import { traceRoutes } from './routes/trace.ts'
import { transferRoutes } from './routes/transfer.ts'
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
  /** Whether NATS can be reached; without it there is none. */
  readonly natsConnected?: (() => boolean) | null
  /** Whether admins may run SQL over HTTP. */
  readonly rawSql?: boolean
  /** Counts what happens; without it there are no metrics. */
  readonly metrics?: Metrics
  /** Who is let in; without it everybody who reaches this machine. */
  readonly access?: AccessControl
  /** Encrypts connections; `ca` are the issuers of the certificates that clients must then have. */
  readonly tls?: ServerTls | null
  /** Addresses of proxies whose word about where a request comes from is taken, separated by commas. */
  readonly trustedProxies?: string | null
}

export interface ServerTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly ca: Buffer | null
}

const ROUTE_GROUPS = [
  rootRoutes,
  healthRoutes,
  metricsRoutes,
  apiDocumentRoutes,
  catalogRoutes,
  catalogVersionRoutes,
  catalogPlaybookRoutes,
  catalogUiSchemaRoutes,
  playbookLanguageRoutes,
  executeRoutes,
  executionRoutes,
  executionEventRoutes,
  executionControlRoutes,
  historyRoutes,
  rerunRoutes,
  transferRoutes,
  doctorRoutes,
  eventRoutes,
  commandRoutes,
  streamRoutes,
  traceRoutes,
  logRoutes,
  credentialRoutes,
  walletRoutes,
  keychainRoutes,
  keychainRecipeRoutes,
  variableRoutes,
  replayRoutes,
  resultRoutes,
  workerPoolRoutes,
  subscriptionRoutes,
  systemRoutes,
  dashboardRoutes,
  databaseRoutes,
  accessTokenRoutes,
  sessionRoutes,
  auditRoutes,
  outboxRoutes,
  internalEventRoutes,
  cleanupRoutes,
  containerRoutes,
  fileRoutes,
  ingressRoutes,
]

const BODY_LIMIT = 16 * 1024 * 1024

/** How long a client may take to send a request, and its head; how long an answer takes is not limited. */
const REQUEST_MS = 120_000
const HEAD_MS = 20_000

const transportOptions = ({ tls, trustedProxies }: ServerContext): object => ({
  ...(trustedProxies ? { trustProxy: trustedProxies } : {}),
  requestTimeout: REQUEST_MS,
  ...(tls
    ? {
        https: {
          cert: tls.cert,
          key: tls.key,
          headersTimeout: HEAD_MS,
          ...(tls.ca ? { ca: tls.ca, requestCert: true, rejectUnauthorized: true } : {}),
        },
      }
    : { http: { headersTimeout: HEAD_MS } }),
})

export const createApp = (context: ServerContext): FastifyInstance => {
  const handleError = createErrorHandler(context.core.log)
  const app = Fastify({
    ...transportOptions(context),
    bodyLimit: BODY_LIMIT,
    logger: false,
    forceCloseConnections: true,
    // Names of credentials, variables and steps stand in paths; the default of 100 characters is too short for them.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 2000 },
    frameworkErrors: (error, request, reply) => {
      setSafetyHeaders(reply.raw)
      void handleError(error, request, reply)
    },
    clientErrorHandler: refuseBrokenRequest,
  } satisfies FastifyServerOptions)
  installJsonParser(app)
  installLargeBodies(app, context.core.largeResults.thread)
  installErrorHandlers(app, context.core.log)
  const { access = openAccess(), internalToken = null, core } = context
  const audit = createAuditTrail(() => core.shards.cluster, core.log, core.instruments.recorded)
  installAccess(app, access, { internalToken, audit })
  if (context.metrics) installRequestMetrics(app, context.metrics)
  for (const routes of ROUTE_GROUPS) routes(app, context)
  return app
}
