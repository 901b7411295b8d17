import type { FastifyInstance } from 'fastify'
import { BatchItem, BatchRequest, EventRequest } from '../../contract/api.ts'
import { idSchema } from '../../contract/ids.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { ServerContext } from '../app.ts'
import { check } from '../http.ts'
import { toReportInput } from '../report-input.ts'

export const eventRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  app.post('/api/events', async (request) => {
    const event = check(EventRequest, request.body)
    const { reply, commandsGenerated } = await core.demand(event.execution_id, toReportInput(event))
    const { eventId, duplicate } = reply.ok ? reply : { eventId: '0', duplicate: false }
    return {
      status: 'ok',
      event_id: rawInteger(eventId),
      commands_generated: duplicate ? 0 : commandsGenerated,
      ...(duplicate ? { duplicate } : {}),
    }
  })

  app.post('/api/events/batch', async (request) => {
    const { execution_id, worker_id, events } = check(BatchRequest, request.body)
    if (events.length === 0) return { status: 'ok', event_ids: [], commands_generated: 0 }
    const executionId = check(idSchema('execution_id'), execution_id)
    const inputs = events.map((item) =>
      toReportInput({ ...check(BatchItem, item), worker_id: worker_id ?? null }),
    )
    const { replies, commandsGenerated } = await core.demandAll(executionId, inputs)
    const ids = replies.map((reply) => rawInteger(reply.ok ? reply.eventId : '0'))
    return { status: 'ok', event_ids: ids, commands_generated: commandsGenerated }
  })
}
