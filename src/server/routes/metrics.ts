/** Numbers for Prometheus. */
import type { FastifyInstance } from 'fastify'
import type { ServerContext } from '../app.ts'
import { createStateMetrics } from '../metrics/state-metrics.ts'
import { route } from '../route.ts'

export const metricsRoutes = (app: FastifyInstance, { core, metrics, version }: ServerContext): void => {
  if (!metrics) return
  const refresh = createStateMetrics(core, metrics)
  metrics.state.build.set({ version }, 1)
  route(
    app,
    {
      method: 'GET',
      url: '/metrics',
      name: 'metrics',
      tag: 'server',
      access: 'viewer',
      summary: 'Numbers for Prometheus',
      answerType: 'text/plain',
      problems: ['unavailable'],
    },
    async ({ reply }) => {
      await refresh()
      return reply.type(metrics.register.contentType).send(await metrics.register.metrics())
    },
  )
}
