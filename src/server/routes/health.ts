import type { FastifyInstance } from 'fastify'
import { AliveAnswer, HealthAnswer } from '../../contract/answers-server.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'

const tag = 'server'
const access = 'public'

export const healthRoutes = (
  app: FastifyInstance,
  { core, version, natsConnected = null }: ServerContext,
): void => {
  const startedAt = performance.now()
  route(
    app,
    {
      method: 'GET',
      url: '/health',
      name: 'isAlive',
      tag,
      access,
      summary: 'Whether the process answers; the database is not asked',
      answer: AliveAnswer,
    },
    () => ({ status: 'ok' }),
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/health',
      name: 'getHealth',
      tag,
      access,
      summary: 'Whether the server and its database work',
      answer: HealthAnswer,
      otherAnswers: { 503: HealthAnswer },
    },
    async ({ reply }) => {
      const connected = await core.shards.cluster.query('select 1').then(
        () => true,
        () => false,
      )
      return reply.code(connected ? 200 : 503).send({
        status: connected ? 'ok' : 'unhealthy',
        database: connected ? 'connected' : 'disconnected',
        nats: natsConnected === null ? 'not_configured' : natsConnected() ? 'connected' : 'disconnected',
        uptime_seconds: Math.floor((performance.now() - startedAt) / 1000),
        version,
      })
    },
  )
}
