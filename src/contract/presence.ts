/** How a worker registers itself. */
import type { WorkerPresence } from './command.ts'
import type { JsonObject } from './json.ts'

export const toRegistration = (presence: WorkerPresence): JsonObject => ({
  name: presence.workerId,
  kind: 'worker_pool',
  status: 'ready',
  capacity: presence.slots,
  capabilities: presence.capabilities,
  labels: { pool_name: presence.pool },
  runtime: { kind: 'node', hostname: presence.hostname, version: presence.version },
})
