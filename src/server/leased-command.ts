/** A command as a worker gets it, from its command.issued event and the lease. */
import type { CommandContext, LeasedCommand } from '../contract/command.ts'
import type { EventRecord } from '../contract/event.ts'

export interface Lease {
  readonly commandId: string
  readonly leaseToken: string
  readonly attempt: number
}

export const toLeasedCommand = (
  issued: EventRecord,
  { commandId, leaseToken, attempt }: Lease,
): LeasedCommand => ({
  executionId: issued.executionId,
  eventId: issued.eventId,
  commandId,
  catalogId: typeof issued.meta['catalog_id'] === 'string' ? issued.meta['catalog_id'] : '0',
  step: issued.nodeName ?? '',
  toolKind: issued.nodeType ?? 'noop',
  attempt,
  leaseToken,
  context: issued.context as unknown as CommandContext,
  meta: attempt === 1 ? issued.meta : { ...issued.meta, attempt },
})
