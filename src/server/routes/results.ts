/**
 * The result store, under two names: `/api/result` and `/api/temp`. A reference is answered with the stored JSON
 * itself; who may not see secrets gets it redacted. Large data is stored and answered as bytes and never becomes an object here.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  ResultDataAnswer,
  ResultListAnswer,
  ResultOfStepAnswer,
  ResultStatsAnswer,
  ResultsDeletedAnswer,
  StoredResultAnswer,
} from '../../contract/answers-results.ts'
import type { ResultScope } from '../../contract/api-results.ts'
import {
  formatReference,
  parseReference,
  PutResultRequest,
  ResolveQuery,
  ResolveRequest,
  ResultDeleteQuery,
  ResultListQuery,
  ResultOfStepQuery,
} from '../../contract/api-results.ts'
import type { Json } from '../../contract/json.ts'
import { LARGE_BYTES } from '../../contract/large-data.ts'
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
import { pathId } from '../http.ts'
import { digestOf, takeResultBody } from '../large-data/large-bodies.ts'
import { route } from '../route.ts'
import { maySeeSecrets } from '../secret-access.ts'

const BODY_LIMIT = 64 * 1024 * 1024
const STORE = 'db'

interface Face {
  readonly prefix: string
  /** What its operations are called after. */
  readonly noun: string
  /** What they all share in the document. */
  readonly common: { readonly tag: 'results'; readonly deprecated?: true; readonly description?: string }
}

const FACES: readonly Face[] = [
  { prefix: '/api/result', noun: 'Result', common: { tag: 'results' } },
  {
    prefix: '/api/temp',
    noun: 'TempResult',
    common: {
      tag: 'results',
      deprecated: true,
      description: 'Another name of the route below `/api/result`, for older clients.',
    },
  },
]

/** Deleting a scope deletes the shorter-lived ones with it. */
const DELETED_WITH: Readonly<Record<'execution' | 'workflow', readonly ResultScope[]>> = {
  execution: ['step', 'execution'],
  workflow: ['step', 'execution', 'workflow'],
}

export const resultRoutes = (app: FastifyInstance, context: ServerContext): void => {
  for (const face of FACES) {
    storeRoutes(app, context, face)
    resolveRoutes(app, context, face)
    listRoutes(app, context, face)
    deleteRoutes(app, context, face)
  }
}

const storeRoutes = (app: FastifyInstance, { core }: ServerContext, { prefix, noun, common }: Face): void => {
  route(
    app,
    {
      ...common,
      method: 'PUT',
      url: `${prefix}/:execution_id`,
      name: `put${noun}`,
      access: 'run',
      summary: 'Store data, answering its reference',
      body: PutResultRequest,
      bodyLimit: BODY_LIMIT,
      answer: StoredResultAnswer,
    },
    async ({ request, body: { name, data, scope, source_step, ttl, media_type, uri } }) => {
      const executionId = pathId(request, 'execution_id')
      const facts = {
        executionId,
        name,
        scope,
        sourceStep: source_step ?? null,
        mediaType: media_type ?? 'application/json',
        logicalUri: uri ?? null,
        ttlSeconds: ttl ?? null,
      }
      const digest = digestOf(data)
      if (digest) return resultAnswer(await core.largeResults.storeDigest(facts, digest))
      const text = exactJson(data)
      const row = await insertResult(core.shards.of(executionId), {
        ...facts,
        resultId: core.nextId(),
        bytes: Buffer.byteLength(text),
        sha256: createHash('sha256').update(text).digest('hex'),
        sealed: core.sealer.seal(text),
      })
      return resultAnswer(row)
    },
    { onRequest: takeResultBody },
  )
}

type Send = (request: FastifyRequest, reply: FastifyReply, result: StoredResult) => Promise<FastifyReply>

/** The stored JSON itself, as much of it as the caller may see. */
const createSender = ({ sealer, largeResults: { thread } }: ServerContext['core']): Send => {
  const large = async (data: Buffer, isWhole: boolean): Promise<Buffer> => {
    const json = await sealer.openBytes(data)
    return isWhole ? json : thread.redact(json)
  }
  const small = (data: Buffer, isWhole: boolean): string => {
    const text = sealer.open(data)
    return isWhole ? text : exactJson(redact(parseJson(text) as Json))
  }
  return async (request, reply, { data, bytes }) => {
    const isWhole = maySeeSecrets(request)
    const shown = bytes > LARGE_BYTES ? await large(data, isWhole) : small(data, isWhole)
    return reply.type('application/json; charset=utf-8').send(shown)
  }
}

const resolveRoutes = (
  app: FastifyInstance,
  { core }: ServerContext,
  { prefix, noun, common }: Face,
): void => {
  const { shards } = core
  const send = createSender(core)

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

  route(
    app,
    {
      ...common,
      method: 'GET',
      url: `${prefix}/resolve`,
      name: `resolve${noun}`,
      access: 'viewer',
      summary: 'Read the data behind a reference',
      query: ResolveQuery,
      queryProblem: 'bad_request',
      answer: ResultDataAnswer,
      problems: ['not_found', 'conflict'],
    },
    async ({ request, reply, query: { ref } }) => send(request, reply, await resolve(ref)),
  )

  route(
    app,
    {
      ...common,
      method: 'POST',
      url: `${prefix}/resolve`,
      name: `resolve${noun}FromBody`,
      access: 'viewer',
      summary: 'Read the data behind a reference that stands in the body',
      body: ResolveRequest,
      answer: ResultDataAnswer,
      problems: ['not_found', 'conflict'],
    },
    async ({ request, reply, body: { ref } }) => send(request, reply, await resolve(ref)),
  )
}

const listRoutes = (app: FastifyInstance, { core }: ServerContext, { prefix, noun, common }: Face): void => {
  const { shards } = core
  const send = createSender(core)

  route(
    app,
    {
      ...common,
      method: 'GET',
      url: `${prefix}/stats`,
      name: `estimate${noun}s`,
      access: 'viewer',
      summary: 'How many results are stored and how large they are, estimated',
      answer: ResultStatsAnswer,
    },
    async () => {
      const estimates = await Promise.all(shards.all.map(estimateResults))
      const sum = (key: 'count' | 'bytesOnDisk'): number =>
        estimates.reduce((total, estimate) => total + estimate[key], 0)
      return { store: STORE, results_estimated: sum('count'), bytes_on_disk: sum('bytesOnDisk') }
    },
  )

  route(
    app,
    {
      ...common,
      method: 'GET',
      url: `${prefix}/:execution_id/list`,
      name: `list${noun}s`,
      access: 'viewer',
      summary: 'List what an execution has stored, without the data',
      query: ResultListQuery,
      answer: ResultListAnswer,
    },
    async ({ request, query: { scope, step_name, limit } }) => {
      const executionId = pathId(request, 'execution_id')
      const rows = await listResults(shards.of(executionId), executionId, {
        scope: scope ?? null,
        step: step_name,
        limit,
      })
      return { execution_id: executionId, count: rows.length, refs: rows.map(listItem) }
    },
  )

  route(
    app,
    {
      ...common,
      method: 'GET',
      url: `${prefix}/:execution_id/:step_name`,
      name: `get${noun}OfStep`,
      access: 'viewer',
      summary: 'Read the newest result of a step',
      description: 'The data itself; with `resolve=false` only what is known about it.',
      query: ResultOfStepQuery,
      answer: ResultOfStepAnswer,
      problems: ['not_found'],
    },
    async ({ request, reply, query }) => {
      const executionId = pathId(request, 'execution_id')
      const step = stepOf(request)
      const result = await findResultOfStep(shards.of(executionId), executionId, step)
      if (!result) throw new ProblemError('not_found', `Result not found for step: ${step}`)
      return query.resolve ? send(request, reply, result.newest) : listItem(result.newest)
    },
  )
}

const deleteRoutes = (
  app: FastifyInstance,
  { core }: ServerContext,
  { prefix, noun, common }: Face,
): void => {
  route(
    app,
    {
      ...common,
      method: 'DELETE',
      url: `${prefix}/:execution_id`,
      name: `delete${noun}s`,
      access: 'run',
      summary: 'Delete the results of one scope and those within it',
      query: ResultDeleteQuery,
      answer: ResultsDeletedAnswer,
      problems: ['bad_request'],
    },
    async ({ request, query: { scope } }) => {
      const executionId = pathId(request, 'execution_id')
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
    },
  )

  route(
    app,
    {
      ...common,
      method: 'DELETE',
      url: `${prefix}/:execution_id/step/:step_name`,
      name: `delete${noun}sOfStep`,
      access: 'run',
      summary: 'Delete the results of a step',
      answer: ResultsDeletedAnswer,
    },
    async ({ request }) => {
      const executionId = pathId(request, 'execution_id')
      const deleted = await deleteResults(core.shards.of(executionId), executionId, {
        scopes: ['step'],
        step: stepOf(request),
      })
      return { execution_id: executionId, deleted, scope: 'step' }
    },
  )
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
