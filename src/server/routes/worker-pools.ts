/** Processes announce themselves, say that they live, and say goodbye. */
import type { FastifyInstance } from 'fastify'
import {
  DeregisteredAnswer,
  RuntimeAnswer,
  RuntimeHeartbeatAnswer,
  RuntimeListAnswer,
} from '../../contract/answers-server.ts'
import {
  DeregisterRuntimeRequest,
  HeartbeatRuntimeRequest,
  RegisterRuntimeRequest,
  RuntimeListQuery,
} from '../../contract/api-runtimes.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import type { RuntimeRow } from '../../store/runtimes.ts'
import { deregisterRuntime, listRuntimes } from '../../store/runtimes.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'
import { keepRuntime, notRegistered, registerAs } from '../runtimes.ts'

const tag = 'workers'

export const workerPoolRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  const { cluster } = core.shards

  route(
    app,
    {
      method: 'POST',
      url: '/api/worker/pool/register',
      name: 'registerRuntime',
      tag,
      access: 'worker',
      summary: 'Announce a worker',
      body: RegisterRuntimeRequest,
      answer: RuntimeAnswer,
    },
    async ({ body }) => runtimeAnswer(await registerAs(core, body)),
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/worker/pool/heartbeat',
      name: 'keepRuntime',
      tag,
      access: 'worker',
      summary: 'Say that a worker lives',
      description: 'With `registration` a worker that is not known any more is registered again.',
      body: HeartbeatRuntimeRequest,
      answer: RuntimeHeartbeatAnswer,
      problems: ['not_found'],
    },
    async ({ body: { name, kind, registration } }) => {
      const { runtime_id, isNew } = await keepRuntime(core, kind, name, registration ?? null)
      return isNew
        ? { status: 'recreated', message: 'Runtime registered again', name, runtime_id }
        : { status: 'ok', message: 'Heartbeat recorded', name, runtime_id }
    },
  )

  const farewell = {
    url: '/api/worker/pool/deregister',
    tag,
    access: 'worker',
    summary: 'Say goodbye',
    body: DeregisterRuntimeRequest,
    answer: DeregisteredAnswer,
    problems: ['not_found'],
  } as const
  const deregister = async ({ body: { name, kind } }: { body: DeregisterRuntimeRequest }) => {
    if (!(await deregisterRuntime(cluster, kind, name))) throw notRegistered(kind, name)
    return { status: 'ok', message: `Runtime ${kind} ${name} deregistered` }
  }
  route(app, { ...farewell, method: 'POST', name: 'deregisterRuntime' }, deregister)
  route(app, { ...farewell, method: 'DELETE', name: 'deleteRuntime' }, deregister)

  route(
    app,
    {
      method: 'GET',
      url: '/api/worker/pools',
      name: 'listRuntimes',
      tag,
      access: 'viewer',
      summary: 'Who is there',
      query: RuntimeListQuery,
      answer: RuntimeListAnswer,
    },
    async ({ query }) => (await listRuntimes(cluster, query)).map(runtimeAnswer),
  )
}

const runtimeAnswer = (row: RuntimeRow) => ({ ...row, runtime_id: rawInteger(row.runtime_id) })
