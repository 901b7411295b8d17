/**
 * Credentials by name. Their data leaves the server in two ways only: with `include_data`, and sealed for one worker.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  CredentialAnswer,
  CredentialDeletedAnswer,
  CredentialListAnswer,
  SealedCredentialAnswer,
} from '../../contract/answers-secrets.ts'
import {
  CredentialListQuery,
  CredentialQuery,
  CredentialRequest,
  SealedQuery,
} from '../../contract/api-secrets.ts'
import { parseId } from '../../contract/ids.ts'
import { isObject } from '../../contract/json.ts'
import { ProblemError } from '../../contract/problem.ts'
import { exactJson, storableJson } from '../../lib/exact-json.ts'
import { parsePublicKey, sealTo } from '../../lib/sealed-box.ts'
import {
  deleteCredential,
  findCredential,
  listCredentials,
  upsertCredential,
} from '../../store/credentials.ts'
import { readRuntime } from '../../store/runtimes.ts'
import type { ServerContext } from '../app.ts'
import { credentialAnswer, credentialText, lookUpCredential } from '../credential-lookup.ts'
import { schemaProblems } from '../credential-schema.ts'
import { route } from '../route.ts'
import { maySeeSecrets, needWallet, refuseSecrets } from '../secret-access.ts'

const tag = 'credentials'

const identifierOf = (request: FastifyRequest): string =>
  (request.params as { identifier: string }).identifier

const notFound = (identifier: string): ProblemError =>
  new ProblemError('not_found', `Credential '${identifier}' not found`)

export const credentialRoutes = (app: FastifyInstance, { core, wallet }: ServerContext): void => {
  const { shards, nextId } = core
  const { cluster } = shards

  route(
    app,
    {
      method: 'POST',
      url: '/api/credentials',
      name: 'putCredential',
      tag,
      access: 'operator',
      summary: 'Store or replace a credential',
      description: 'Its data is sealed before it is stored and is not part of the answer.',
      body: CredentialRequest,
      answer: CredentialAnswer,
      problems: ['bad_request'],
    },
    async ({ body: { name, type, data, schema, meta, tags, description } }) => {
      const problems = schema ? schemaProblems(data, schema) : []
      if (problems.length > 0)
        throw new ProblemError(
          'bad_request',
          `Credential '${name}' does not fit its schema: ${problems.join('; ')}`,
        )
      const row = await upsertCredential(cluster, {
        id: nextId(),
        name,
        type: type === '' ? 'generic' : type,
        dataEncrypted: needWallet(wallet).seal(exactJson(data)),
        schema: schema ? storableJson(schema) : null,
        meta: meta ? storableJson(meta) : null,
        tags: tags ?? null,
        description: description ?? null,
      })
      return credentialAnswer(row)
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/credentials',
      name: 'listCredentials',
      tag,
      access: 'viewer',
      summary: 'List credentials without their data',
      query: CredentialListQuery,
      answer: CredentialListAnswer,
    },
    async ({ query: { type, q } }) => {
      const rows = await listCredentials(cluster, { type, text: q })
      const filter = { ...(type === null ? {} : { type }), ...(q === null ? {} : { q }) }
      return {
        items: rows.map((row) => credentialAnswer(row)),
        ...(Object.keys(filter).length === 0 ? {} : { filter }),
      }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/credentials/:identifier',
      name: 'getCredential',
      tag,
      access: 'viewer',
      summary: 'Read a credential by name or id',
      description:
        'With `include_data` also its secret data, for workers and admins only. A name that is not stored may then be one of the keychain of the execution.',
      query: CredentialQuery,
      answer: CredentialAnswer,
      problems: ['not_found'],
    },
    async ({ request, reply, query }) => {
      const identifier = identifierOf(request)
      if (!query.include_data) {
        const row = await findCredential(cluster, identifier, parseId(identifier))
        if (!row) throw notFound(identifier)
        return credentialAnswer(row)
      }
      if (!maySeeSecrets(request)) return refuseSecrets(reply)
      const found = await lookUpCredential(shards, needWallet(wallet), {
        identifier,
        executionId: query.execution_id ?? null,
        parentExecutionId: query.parent_execution_id ?? null,
      })
      if (!found) throw notFound(identifier)
      return found
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/credentials/:identifier/sealed',
      name: 'getSealedCredential',
      tag,
      access: 'worker',
      summary: 'Read a credential encrypted for one worker',
      description: 'Encrypted to the public key that the worker announced when it registered.',
      query: SealedQuery,
      answer: SealedCredentialAnswer,
      problems: ['bad_request', 'not_found'],
    },
    async ({ request, reply, query: { worker_id, execution_id, parent_execution_id } }) => {
      const identifier = identifierOf(request)
      if (worker_id === null) throw new ProblemError('bad_request', 'worker_id is required')
      if (!maySeeSecrets(request)) return refuseSecrets(reply)
      const worker = await readRuntime(cluster, 'worker_pool', worker_id)
      if (!worker) throw new ProblemError('bad_request', `Worker '${worker_id}' is not registered`)
      const announced = isObject(worker.runtime) ? worker.runtime['worker_public_key'] : null
      if (typeof announced !== 'string')
        throw new ProblemError('bad_request', `Worker '${worker_id}' announced no public key`)
      const receiver = parsePublicKey(announced)
      if (!receiver)
        throw new ProblemError(
          'bad_request',
          `The public key of worker '${worker_id}' is not base64 of 32 bytes`,
        )
      const found = await lookUpCredential(shards, needWallet(wallet), {
        identifier,
        executionId: execution_id ?? null,
        parentExecutionId: parent_execution_id ?? null,
      })
      if (!found) throw notFound(identifier)
      const box = sealTo(receiver, credentialText(found))
      if (!box)
        throw new ProblemError('bad_request', `The public key of worker '${worker_id}' is not a safe one`)
      return box
    },
  )

  route(
    app,
    {
      method: 'DELETE',
      url: '/api/credentials/:identifier',
      name: 'deleteCredential',
      tag,
      access: 'operator',
      summary: 'Delete a credential',
      answer: CredentialDeletedAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const identifier = identifierOf(request)
      const id = await deleteCredential(cluster, identifier, parseId(identifier))
      if (id === null) throw notFound(identifier)
      return { message: 'Credential deleted successfully', id }
    },
  )
}
