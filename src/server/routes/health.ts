import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../app.ts'

export const healthRoutes = (app: FastifyInstance, { core, version }: ServerContext): void => {
  const startedAt = performance.now()
  app.get('/health', () => ({ status: 'ok' }))
  app.get('/api/health', async (_request, reply) => {
    const connected = await core.shards.cluster.query('select 1').then(
      () => true,
      () => false,
    )
    return reply.code(connected ? 200 : 503).send({
      status: connected ? 'ok' : 'unhealthy',
      database: connected ? 'connected' : 'disconnected',
      nats: 'not_configured',
      uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
      version,
    })
  })
}
