/**
 * The result store, under two names: `/api/result` and `/api/temp`. A reference is answered with the stored JSON
 * itself; who may not see secrets gets it redacted.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ResultScope } from '../../contract/api-results.ts'
import {
  formatReference,
  parseReference,
  PutResultRequest,
  ResolveRequest,
  ResultDeleteQuery,
  ResultListQuery,
  ResultOfStepQuery,
} from '../../contract/api-results.ts'
import type { Json } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { redact } from '../../contract/sensitive.ts'
import { exactJson, parseJson } from '../../lib/exact-json.ts'
import type { ResultRow, StoredResult } from '../../store/results.ts'
import {
  deleteResults,
  estimateResults,
  findResultByUri,
  findResultOfStep,
  insertResult,
  listResults,
  readResult,
} from '../../store/results.ts'
import type { ServerContext } from '../app.ts'
import { check, pathId } from '../http.ts'
import { maySeeSecrets } from '../secret-access.ts'

const BODY_LIMIT = 64 * 1024 * 1024
const STORE = 'db'

/** Deleting a scope deletes the shorter-lived ones with it. */
const DELETED_WITH: Readonly<Record<'execution' | 'workflow', readonly ResultScope[]>> = {
  execution: ['step', 'execution'],
  workflow: ['step', 'execution', 'workflow'],
}

export const resultRoutes = (app: FastifyInstance, context: ServerContext): void => {
  for (const prefix of ['/api/result', '/api/temp']) {
    storeRoutes(app, context, prefix)
    findRoutes(app, context, prefix)
    deleteRoutes(app, context, prefix)
  }
}

const storeRoutes = (app: FastifyInstance, { core }: ServerContext, prefix: string): void => {
  app.put(`${prefix}/:execution_id`, { bodyLimit: BODY_LIMIT }, async (request) => {
    const executionId = pathId(request, 'execution_id')
    const { name, data, scope, source_step, ttl, media_type, uri } = check(PutResultRequest, request.body)
    const text = exactJson(data)
    const row = await insertResult(core.shards.of(executionId), {
      resultId: core.nextId(),
      executionId,
      name,
      scope,
      sourceStep: source_step ?? null,
      mediaType: media_type ?? 'application/json',
      logicalUri: uri ?? null,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
      sealed: core.sealer.seal(text),
      ttlSeconds: ttl ?? null,
    })
    return resultAnswer(row)
  })
}

const findRoutes = (app: FastifyInstance, { core }: ServerContext, prefix: string): void => {
  const { shards, sealer } = core

  const send = (request: FastifyRequest, reply: FastifyReply, { data }: StoredResult): FastifyReply => {
    const text = sealer.open(data)
    const shown = maySeeSecrets(request) ? text : exactJson(redact(parseJson(text) as Json))
    return reply.type('application/json; charset=utf-8').send(shown)
  }

  const resolve = async (uri: string): Promise<StoredResult> => {
    const reference = parseReference(uri)
    if (!reference) throw new ProblemError('bad_request', `Not a reference to a result: '${uri}'`)
    const database = shards.of(reference.executionId)
    if (reference.kind === 'stored') return found(await readResult(database, reference))
    const exact = await findResultByUri(database, reference.executionId, reference.uri)
    if (exact) return exact
    const ofStep = await findResultOfStep(database, reference.executionId, reference.step)
    // Of several results of a step, nothing says which one is meant; a guess might be the wrong data.
    if (ofStep && !ofStep.alone)
      throw new ProblemError(
        'conflict',
        `Step '${reference.step}' has several results; name one by its stored reference`,
      )
    return found(ofStep?.newest ?? null)
  }

  app.get(`${prefix}/resolve`, async (request, reply) => {
    const { ref } = request.query as { ref?: unknown }
    if (typeof ref !== 'string' || ref === '') throw new ProblemError('bad_request', 'ref is required')
    return send(request, reply, await resolve(ref))
  })

  app.post(`${prefix}/resolve`, async (request, reply) =>
    send(request, reply, await resolve(check(ResolveRequest, request.body).ref)),
  )

  app.get(`${prefix}/stats`, async () => {
    const estimates = await Promise.all(shards.all.map(estimateResults))
    const sum = (key: 'count' | 'bytesOnDisk'): number =>
      estimates.reduce((total, estimate) => total + estimate[key], 0)
    return { store: STORE, results_estimated: sum('count'), bytes_on_disk: sum('bytesOnDisk') }
  })

  app.get(`${prefix}/:execution_id/list`, async (request) => {
    const executionId = pathId(request, 'execution_id')
    const { scope, step_name, limit } = check(ResultListQuery, request.query)
    const rows = await listResults(shards.of(executionId), executionId, {
      scope: scope ?? null,
      step: step_name,
      limit,
    })
    return { execution_id: executionId, count: rows.length, refs: rows.map(listItem) }
  })

  app.get(`${prefix}/:execution_id/:step_name`, async (request, reply) => {
    const executionId = pathId(request, 'execution_id')
    const step = stepOf(request)
    const query = check(ResultOfStepQuery, request.query)
    const result = await findResultOfStep(shards.of(executionId), executionId, step)
    if (!result) throw new ProblemError('not_found', `Result not found for step: ${step}`)
    return query.resolve ? send(request, reply, result.newest) : listItem(result.newest)
  })
}

const deleteRoutes = (app: FastifyInstance, { core }: ServerContext, prefix: string): void => {
  app.delete(`${prefix}/:execution_id`, async (request) => {
    const executionId = pathId(request, 'execution_id')
    const { scope } = check(ResultDeleteQuery, request.query)
    if (scope === 'permanent')
      throw new ProblemError('bad_request', "Results of scope 'permanent' are not deleted in bulk")
    if (scope === 'step')
      throw new ProblemError(
        'bad_request',
        `To delete results of a step, use DELETE ${prefix}/{execution_id}/step/{step_name}`,
      )
    const deleted = await deleteResults(core.shards.of(executionId), executionId, {
      scopes: DELETED_WITH[scope],
      step: null,
    })
    return { execution_id: executionId, deleted, scope }
  })

  app.delete(`${prefix}/:execution_id/step/:step_name`, async (request) => {
    const executionId = pathId(request, 'execution_id')
    const deleted = await deleteResults(core.shards.of(executionId), executionId, {
      scopes: ['step'],
      step: stepOf(request),
    })
    return { execution_id: executionId, deleted, scope: 'step' }
  })
}

const stepOf = (request: FastifyRequest): string => (request.params as { step_name: string }).step_name

const found = (result: StoredResult | null): StoredResult => {
  if (!result) throw new ProblemError('not_found', 'result not found')
  return result
}

const resultAnswer = (row: ResultRow) => ({
  ref: formatReference(row.execution_id, row.name, row.result_id),
  store: STORE,
  scope: row.scope,
  bytes: row.bytes,
  sha256: row.sha256,
  media_type: row.media_type,
  expires_at: row.expires_at,
})

const listItem = (row: ResultRow) => ({
  ...resultAnswer(row),
  name: row.name,
  source_step: row.source_step,
  uri: row.logical_uri,
  created_at: row.created_at,
})
