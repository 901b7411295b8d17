/** Processes announce themselves, say that they live, and say goodbye. */
import type { FastifyInstance } from 'fastify'
import type { RegisterRuntimeRequest as Registration, RuntimeKind } from '../../contract/api-runtimes.ts'
import {
  DeregisterRuntimeRequest,
  HeartbeatRuntimeRequest,
  RegisterRuntimeRequest,
  RuntimeListQuery,
} from '../../contract/api-runtimes.ts'
import type { Json } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger, storableJson } from '../../lib/exact-json.ts'
import type { RuntimeRow } from '../../store/runtimes.ts'
import { deregisterRuntime, listRuntimes, recordHeartbeat, registerRuntime } from '../../store/runtimes.ts'
import type { ServerContext } from '../app.ts'
import { check } from '../http.ts'

const notFound = (kind: RuntimeKind, name: string): ProblemError =>
  new ProblemError('not_found', `Runtime not found: ${kind} ${name}`)

export const workerPoolRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  const register = (registration: Registration): Promise<RuntimeRow> =>
    registerRuntime(cluster, {
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

  app.post('/api/worker/pool/register', async (request) =>
    runtimeAnswer(await register(check(RegisterRuntimeRequest, request.body))),
  )

  app.post('/api/worker/pool/heartbeat', async (request) => {
    const { name, kind, registration } = check(HeartbeatRuntimeRequest, request.body)
    const known = await recordHeartbeat(cluster, kind, name)
    if (known !== null) return { status: 'ok', message: 'Heartbeat recorded', name, runtime_id: known }
    if (!registration) throw notFound(kind, name)
    // Both or neither of the names may say what kind it is; the heartbeat's own name and kind count.
    const { component_type: _, ...rest } = registration
    const { runtime_id } = await register(check(RegisterRuntimeRequest, { ...rest, name, kind }))
    return { status: 'recreated', message: 'Runtime registered again', name, runtime_id }
  })

  app.route({
    method: ['POST', 'DELETE'],
    url: '/api/worker/pool/deregister',
    handler: async (request) => {
      const { name, kind } = check(DeregisterRuntimeRequest, request.body)
      if (!(await deregisterRuntime(cluster, kind, name))) throw notFound(kind, name)
      return { status: 'ok', message: `Runtime ${kind} ${name} deregistered` }
    },
  })

  app.get('/api/worker/pools', async (request) => {
    const rows = await listRuntimes(cluster, check(RuntimeListQuery, request.query))
    return rows.map(runtimeAnswer)
  })
}

const jsonOrNull = (value: Json | undefined): string | null =>
  value === undefined || value === null ? null : storableJson(value)

const runtimeAnswer = (row: RuntimeRow) => ({ ...row, runtime_id: rawInteger(row.runtime_id) })
