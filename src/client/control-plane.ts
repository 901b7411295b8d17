/**
 * The control plane as a worker across the network sees it.
 *
 * 1. A report that the server refuses for its lease, or whose execution is unknown there, is `lost`.
 * 2. A credential that is not found is null; every other refusal is an error.
 * 3. A lease request that is aborted brings nothing; the server hands back what it may have leased meanwhile.
 * 4. Large data is stored first, and the report names it; data that was stored is not stored again when its report is sent again.
 */
import type {
  CancelSignal,
  CommandContext,
  ControlPlane,
  HeartbeatStatus,
  LeasedCommand,
  LeaseKey,
  PlaybookOutcome,
} from '../contract/command.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import type { KeychainRecipe } from '../contract/keychain.ts'
import { ProblemError } from '../contract/problem.ts'
import { toRegistration } from '../contract/presence.ts'
import { toReportEvent } from '../contract/report.ts'
import { createLargeUploads } from './large-uploads.ts'
import type { ClientOptions } from './transport.ts'
import { createTransport } from './transport.ts'
import { WrongServer } from './wrong-server.ts'

export interface RemoteControlPlane extends ControlPlane {
  /** How long a lease lasts without a heartbeat, as the server last said. */
  leaseMs(): number
}

const DEFAULT_LEASE_SECONDS = 60
/** A tool call may be repeated long after it was made; its id is unique, so its window may be, too. */
const CALL_WINDOW_SECONDS = 30 * 86_400

export const createRemoteControlPlane = (
  serverUrl: string,
  access: ClientOptions = {},
): RemoteControlPlane => {
  const transport = createTransport(serverUrl, access)
  const uploads = createLargeUploads(transport)
  let leaseSeconds = DEFAULT_LEASE_SECONDS
  return {
    leaseMs: () => leaseSeconds * 1000,
    lease: async ({ workerId, pool, capabilities = [], max, waitMs, signal }) => {
      const { signal: abort, release } = toAbortSignal(signal)
      try {
        const body = { worker_id: workerId, pool, capabilities, max, wait_ms: waitMs }
        const answer = await transport.json('POST', '/api/commands/lease', { body, signal: abort })
        const { commands } = answer as { commands: readonly WireCommand[] }
        for (const command of commands) leaseSeconds = command.lease_seconds
        return commands.map(toCommand)
      } catch (error) {
        if (abort.aborted) return []
        throw error
      } finally {
        release()
      }
    },
    report: async (report) => {
      const reference = await uploads.referenceFor(report)
      const { eventType, status, context, meta } = toReportEvent(report, reference)
      const body = {
        execution_id: report.executionId,
        step: report.step,
        event_type: eventType,
        status,
        payload: context,
        meta,
        worker_id: report.workerId,
        lease_token: report.leaseToken,
        duration_ms: report.durationMs,
      }
      try {
        await transport.json('POST', '/api/events', { body })
        return 'ok'
      } catch (error) {
        // A stranger in the place of the server does not know what is lost.
        if (!(error instanceof ProblemError) || error instanceof WrongServer) throw error
        if (error.code === 'lease_lost' || error.code === 'not_found') return 'lost'
        throw error
      }
    },
    heartbeat: async ({ workerId, leases, waitMs = 0, signal }) => {
      const wait = waitMs === 0 ? {} : { wait_ms: Math.round(waitMs) }
      const body = { worker_id: workerId, leases: leases.map(toWireLease), ...wait }
      const { signal: abort, release } = signal ? toAbortSignal(signal) : NEVER_ABORTED
      try {
        const answer = await transport.json('POST', '/api/commands/heartbeat', { body, signal: abort })
        return (answer as { statuses: readonly HeartbeatStatus[] }).statuses
      } finally {
        release()
      }
    },
    release: async ({ workerId, leases }) => {
      await transport.json('POST', '/api/commands/release', {
        body: { worker_id: workerId, leases: leases.map(toWireLease) },
      })
    },
    announce: async (presence) => {
      await transport.json('POST', '/api/worker/pool/heartbeat', {
        body: { name: presence.workerId, kind: 'worker_pool', registration: toRegistration(presence) },
      })
    },
    farewell: async (workerId) => {
      await transport.json('POST', '/api/worker/pool/deregister', {
        body: { name: workerId, kind: 'worker_pool' },
      })
    },
    output: async ({ workerId, outputs }) => {
      const body = {
        worker_id: workerId,
        outputs: outputs.map(({ parts, ...lease }) => ({ ...toWireLease(lease), parts })),
      }
      await transport.json('POST', '/api/commands/output', { body })
    },
    startPlaybook: async ({ callId, parentExecutionId, playbook, payload }) => {
      const dedup = { key: callId, window_secs: CALL_WINDOW_SECONDS }
      const body = { ...playbook, payload, parent_execution_id: parentExecutionId, dedup }
      const answer = (await transport.json('POST', '/api/execute', { body })) as { execution_id: string }
      return { executionId: answer.execution_id }
    },
    awaitPlaybook: async ({ executionId, step, waitMs, signal }) => {
      const { signal: abort, release } = toAbortSignal(signal)
      const query = new URLSearchParams({
        wait_ms: String(waitMs),
        include_secrets: 'true',
        ...(step === null ? {} : { step }),
      })
      try {
        const path = `/api/executions/${executionId}/result?${query.toString()}`
        const outcome = (await transport.json('GET', path, { signal: abort })) as WireOutcome
        return outcome.status === 'RUNNING'
          ? null
          : { status: outcome.status, path: outcome.path, data: outcome.data, error: outcome.error }
      } finally {
        release()
      }
    },
    result: async ({ ref, signal }) => {
      const { signal: abort, release } = toAbortSignal(signal)
      try {
        const query = new URLSearchParams({ ref })
        return {
          data: (await transport.json('GET', `/api/result/resolve?${query.toString()}`, {
            signal: abort,
          })) as Json,
        }
      } catch (error) {
        if (error instanceof ProblemError && error.code === 'not_found') return null
        throw error
      } finally {
        release()
      }
    },
    credential: async ({ executionId, alias, signal }) => {
      const { signal: abort, release } = toAbortSignal(signal)
      const query = new URLSearchParams({ include_data: 'true', execution_id: executionId })
      try {
        const path = `/api/credentials/${encodeURIComponent(alias)}?${query.toString()}`
        const {
          name,
          type,
          data = null,
          expires_in: expiresInSeconds,
        } = (await transport.json('GET', path, { signal: abort })) as WireCredential
        return { name, type, data, ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }) }
      } catch (error) {
        if (error instanceof ProblemError && error.code === 'not_found') return null
        throw error
      } finally {
        release()
      }
    },
    keychainRecipe: async ({ executionId, alias, holder, signal }) => {
      const { signal: abort, release } = toAbortSignal(signal)
      try {
        const query = holder === undefined ? '' : `?${new URLSearchParams({ holder }).toString()}`
        const path = `/api/executions/${executionId}/keychain/${encodeURIComponent(alias)}/recipe${query}`
        return toRecipe((await transport.json('GET', path, { signal: abort })) as WireRecipe)
      } catch (error) {
        if (error instanceof ProblemError && error.code === 'not_found') return null
        throw error
      } finally {
        release()
      }
    },
    keepKeychain: async ({ entry: { address, data, expiresInSeconds, renewConfig }, signal }) => {
      const { signal: abort, release } = toAbortSignal(signal)
      const body = {
        data,
        scope_type: address.scope,
        execution_id: address.executionId,
        expires_in: expiresInSeconds,
        auto_renew: renewConfig !== null,
        renew_config: renewConfig,
      }
      try {
        const path = `/api/keychain/${address.catalogId}/${encodeURIComponent(address.name)}`
        await transport.json('POST', path, { body, signal: abort })
      } finally {
        release()
      }
    },
  }
}

interface WireRecipe extends Pick<KeychainRecipe, 'entry' | 'variables' | 'renew'> {
  readonly keychain_name: string
  readonly catalog_id: string
  readonly scope_type: KeychainRecipe['address']['scope']
  readonly execution_id: string | null
  /** Older servers do not say. */
  readonly being_made?: boolean | null
}

const toRecipe = (wire: WireRecipe): KeychainRecipe => ({
  address: {
    name: wire.keychain_name,
    catalogId: wire.catalog_id,
    scope: wire.scope_type,
    executionId: wire.execution_id,
  },
  entry: wire.entry,
  variables: wire.variables,
  renew: wire.renew,
  ...(typeof wire.being_made === 'boolean' ? { isBeingMade: wire.being_made } : {}),
})

interface WireOutcome extends Omit<PlaybookOutcome, 'status'> {
  readonly status: PlaybookOutcome['status'] | 'RUNNING'
}

interface WireCredential {
  readonly name: string
  readonly type: string
  readonly data?: Json
  readonly expires_in?: number
}

interface WireCommand {
  readonly event_id: string | number
  readonly execution_id: string | number
  readonly command_id: string
  readonly catalog_id: string
  readonly node_name: string
  readonly action: string
  readonly attempt: number
  readonly lease_token: string
  readonly lease_seconds: number
  readonly context: CommandContext
  readonly meta: JsonObject
}

const toCommand = (wire: WireCommand): LeasedCommand => ({
  executionId: String(wire.execution_id),
  eventId: String(wire.event_id),
  commandId: wire.command_id,
  catalogId: wire.catalog_id,
  step: wire.node_name,
  toolKind: wire.action,
  attempt: wire.attempt,
  leaseToken: wire.lease_token,
  context: wire.context,
  meta: wire.meta,
})

const toWireLease = ({ executionId, eventId, leaseToken }: LeaseKey) => ({
  execution_id: executionId,
  event_id: eventId,
  lease_token: leaseToken,
})

const NEVER_ABORTED = { signal: undefined, release: () => undefined }

const toAbortSignal = (signal: CancelSignal): { signal: AbortSignal; release: () => void } => {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  return { signal: controller.signal, release: () => signal.removeEventListener('abort', abort) }
}
