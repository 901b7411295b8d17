/**
 * Key/value buckets, object stores, streams and messages of NATS.
 *
 * 1. Data has a `status`: `success`, or `not_found` for a key, an object or a message that is not there, which is no error.
 * 2. Calls share one connection per server and user.
 * 3. The packages of NATS are optional; without them a call says what to install.
 * 4. A call that is aborted answers at once; what it had asked for may still be done by the server.
 */
import { nats } from '../../contract/tools/nats.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { textField } from './coerce.ts'
import { natsSettings } from './nats/connection-settings.ts'
import { createNatsConnections, type NatsConnections } from './nats/connections.ts'
import { keyValueOperations } from './nats/key-value.ts'
import { messageOperations } from './nats/messages.ts'
import { natsFailure } from './nats/nats-error.ts'
import { objectOperations } from './nats/objects.ts'
import type { RunOperation } from './nats/operation.ts'
import { type LoadNats, loadNats, type NatsPackages } from './nats/packages.ts'

export interface NatsToolOptions {
  readonly load?: LoadNats
}

export interface NatsTool extends Tool {
  run(call: ToolCall): Promise<ToolResult>
  /** Connections open now. */
  connectionCount(): number
  close(): Promise<void>
}

const OPERATIONS: Readonly<Record<string, RunOperation>> = {
  ...keyValueOperations,
  ...objectOperations,
  ...messageOperations,
}

const operationOf = (call: ToolCall): { name: string; run: RunOperation } => {
  const name = (textField(call.config, 'operation', 'action') ?? '').trim().toLowerCase()
  const run = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined
  if (run !== undefined) return { name, run }
  const list = Object.keys(OPERATIONS).join(', ')
  throw configFailure(
    name === ''
      ? `A nats tool needs \`operation\`: ${list}`
      : `nats has no operation "${name}". It has: ${list}`,
  )
}

const unlessAborted = <Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

export const createNatsTool = ({ load = loadNats }: NatsToolOptions = {}): NatsTool => {
  let loading: Promise<{ packages: NatsPackages; connections: NatsConnections }> | null = null
  let connections: NatsConnections | null = null

  const loaded = () => {
    loading ??= load().then((packages) => {
      connections = createNatsConnections(packages)
      return { packages, connections }
    })
    return loading
  }

  const runOperation = async (call: ToolCall): Promise<ToolResult> => {
    const { config, signal } = call
    const { name, run } = operationOf(call)
    const settings = natsSettings(config)
    const { packages, connections: pool } = await loaded()
    const work = pool.use(settings, (connection) => {
      signal.throwIfAborted()
      return run({ config, connection, packages, signal })
    })
    try {
      return { outcome: 'ok', data: await unlessAborted(work, signal) }
    } catch (thrown) {
      signal.throwIfAborted()
      throw natsFailure(thrown, name)
    }
  }

  return {
    kind: 'nats',
    declaration: nats,
    instant: false,
    async run(call) {
      try {
        return await runOperation(call)
      } catch (thrown) {
        return failed(thrown)
      }
    },
    connectionCount: () => connections?.connectionCount() ?? 0,
    async close() {
      await connections?.close()
    },
  }
}
