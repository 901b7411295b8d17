/** What workers are answered: commands, leases, and receipts of reports. */
import { z } from 'zod'
import { anyObject, anyValue, count, instant, integerId, textId } from './answer-parts.ts'

const command = {
  execution_id: integerId,
  node_id: z.string().meta({ description: 'The step' }),
  node_name: z.string().meta({ description: 'The step' }),
  action: z.string().meta({ description: 'The kind of the tool; `task_sequence` for a pipeline' }),
  context: z
    .object({
      tool_config: anyValue.meta({ description: 'The tool block, rendered except for `meta.late`' }),
      args: anyObject,
      render_context: anyObject,
    })
    .meta({ description: 'What the tool works with' }),
  meta: anyObject,
}

export const CommandAnswer = z.object(command).meta({ id: 'Command' })

const claimed = {
  status: z.literal('ok'),
  event_id: integerId,
  ...command,
  command_id: z.string(),
  catalog_id: textId,
  attempt: z.int().min(1),
  lease_token: z.string().meta({ description: 'Proves that a report comes from the holder of the lease' }),
  lease_until: instant.nullable(),
}

export const ClaimAnswer = z.object(claimed).meta({ id: 'ClaimedCommand' })

export const LeaseAnswer = z.object({
  commands: z.array(z.object({ ...claimed, lease_seconds: z.number() }).meta({ id: 'LeasedCommand' })),
})

const heartbeatStatus = z.enum(['ok', 'cancelled', 'lost'])

export const HeartbeatAnswer = z.object({ status: heartbeatStatus })

export const HeartbeatListAnswer = z.object({ statuses: z.array(heartbeatStatus) })

export const ReleaseAnswer = z.object({ status: z.literal('ok') })

export const EventAnswer = z.object({
  status: z.literal('ok'),
  event_id: integerId,
  commands_generated: count,
  duplicate: z.literal(true).optional().meta({ description: 'This report was known already' }),
})

export const EventBatchAnswer = z.object({
  status: z.literal('ok'),
  event_ids: z.array(integerId),
  commands_generated: count,
})
