/** Processes that announce themselves. A heartbeat also keeps the leases of workers that send none for their commands. */
import type { RegisterRuntimeRequest as Registration, RuntimeKind } from '../contract/api-runtimes.ts'
import { RegisterRuntimeRequest } from '../contract/api-runtimes.ts'
import type { Json, JsonObject } from '../contract/json.ts'
import { ProblemError } from '../contract/problem.ts'
import { storableJson } from '../lib/exact-json.ts'
import { extendLongLeases } from '../store/commands.ts'
import type { RuntimeRow } from '../store/runtimes.ts'
import { recordHeartbeat, registerRuntime } from '../store/runtimes.ts'
import { LONG_LEASE_SECONDS } from './build-append.ts'
import type { Core } from './core.ts'
import { check } from './http.ts'

export const notRegistered = (kind: RuntimeKind, name: string): ProblemError =>
  new ProblemError('not_found', `Runtime not found: ${kind} ${name}`)

export const registerAs = (core: Core, registration: Registration): Promise<RuntimeRow> =>
  registerRuntime(core.shards.cluster, {
    runtimeId: core.nextId(),
    name: registration.name,
    kind: registration.kind,
    uri: registration.uri ?? null,
    status: registration.status,
    labels: jsonOrNull(registration.labels),
    capabilities: jsonOrNull(registration.capabilities),
    runtime: jsonOrNull(registration.runtime),
    capacity: registration.capacity ?? null,
  })

/** Records a heartbeat; who is not known any more is registered again when the heartbeat says how. */
export const keepRuntime = async (
  core: Core,
  kind: RuntimeKind,
  name: string,
  registration: JsonObject | null,
): Promise<{ readonly runtime_id: string; readonly isNew: boolean }> => {
  const { cluster, all } = core.shards
  const known = await recordHeartbeat(cluster, kind, name)
  if (known !== null) {
    await Promise.all(all.map((database) => extendLongLeases(database, name, LONG_LEASE_SECONDS)))
    return { runtime_id: known, isNew: false }
  }
  if (!registration) throw notRegistered(kind, name)
  // Both or neither of the names may say what kind it is; the heartbeat's own name and kind count.
  const { component_type: _, ...rest } = registration
  const { runtime_id } = await registerAs(core, check(RegisterRuntimeRequest, { ...rest, name, kind }))
  return { runtime_id, isNew: true }
}

/** Says that a process lives, whether or not it is registered. */
export const announceRuntime = async (core: Core, registration: JsonObject): Promise<void> => {
  const { name, kind } = check(RegisterRuntimeRequest, registration)
  await keepRuntime(core, kind, name, registration)
}

const jsonOrNull = (value: Json | undefined): string | null =>
  value === undefined || value === null ? null : storableJson(value)
