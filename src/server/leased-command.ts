/** A command as a worker gets it, from its command.issued event and the lease. */
import type { CommandContext, LeasedCommand } from '../contract/command.ts'
import type { EventRecord } from '../contract/event.ts'
import { isObject } from '../contract/json.ts'
import type { Database } from '../store/database.ts'
import { readEventAt } from '../store/events.ts'
import type { Core } from './core.ts'

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

/** The command.issued event at a position, with its context also when that was too large for the event. */
export const readIssued = async (
  { sealer, largeResults }: Pick<Core, 'sealer' | 'largeResults'>,
  database: Database,
  { execution_id, position }: { readonly execution_id: string; readonly position: number },
): Promise<EventRecord | null> => {
  const issued = await readEventAt(database, execution_id, position, sealer)
  const context = issued?.context
  const ref = isObject(context) && Object.keys(context).length === 1 ? context['_ref'] : undefined
  if (!issued || typeof ref !== 'string') return issued
  return { ...issued, context: largeResults.resolve(ref) ?? (await largeResults.fetch(ref)) }
}
