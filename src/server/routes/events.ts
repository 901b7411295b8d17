import type { FastifyInstance } from 'fastify'
import { EventAnswer, EventBatchAnswer } from '../../contract/answers-commands.ts'
import { BatchItem, BatchRequest, EventRequest } from '../../contract/api.ts'
import { BatchHeaders } from '../../contract/api-headers.ts'
import { idSchema } from '../../contract/ids.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { ServerContext } from '../app.ts'
import { batchKey, reportBatch, reportBatchOnce } from '../event-batch.ts'
import { check } from '../http.ts'
import { toReportInput } from '../report-input.ts'
import { route } from '../route.ts'

const tag = 'events'
const access = 'worker'

export const eventRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/events',
      name: 'reportEvent',
      tag,
      access,
      summary: 'Report what happened',
      description:
        'An `event_id` that the sender chose makes a report repeatable: sent again, it is answered like the first time and changes nothing.',
      body: EventRequest,
      answer: EventAnswer,
      problems: ['not_found', 'conflict', 'lease_lost', 'already_terminal'],
    },
    async ({ body: event }) => {
      const { reply, commandsGenerated } = await core.demand(event.execution_id, toReportInput(event))
      const { eventId, duplicate } = reply.ok ? reply : { eventId: '0', duplicate: false }
      return {
        status: 'ok',
        event_id: rawInteger(eventId),
        commands_generated: duplicate ? 0 : commandsGenerated,
        ...(duplicate ? { duplicate } : {}),
      }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/events/batch',
      name: 'reportEvents',
      tag,
      access,
      summary: 'Report several events of one execution, all or none',
      description:
        'With an `Idempotency-Key` the batch can be sent again for a day: it is answered like the first time and writes nothing.',
      headers: BatchHeaders,
      body: BatchRequest,
      answer: EventBatchAnswer,
      problems: ['not_found', 'conflict', 'lease_lost', 'already_terminal'],
    },
    async ({ headers, body: { execution_id, worker_id, events } }) => {
      if (events.length === 0) return { status: 'ok', event_ids: [], commands_generated: 0 }
      const executionId = check(idSchema('execution_id'), execution_id)
      const inputs = events.map((item) =>
        toReportInput({ ...check(BatchItem, item), worker_id: worker_id ?? null }),
      )
      const key = headers['Idempotency-Key'] ?? headers['X-Idempotency-Key']
      const { eventIds, commandsGenerated } =
        key === undefined
          ? await reportBatch(core, executionId, inputs)
          : await reportBatchOnce(
              core,
              await batchKey(executionId, key, { worker_id: worker_id ?? null, events }),
              inputs,
            )
      return { status: 'ok', event_ids: eventIds.map(rawInteger), commands_generated: commandsGenerated }
    },
  )
}
