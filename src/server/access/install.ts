/**
 * Access control of an HTTP face, installed before its routes: headers of every answer, the check of every request
 * before its body is read, and the record of what callers did.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ProblemError } from '../../contract/problem.ts'
import type { Admission } from './admit.ts'
import { accessOf, admit } from './admit.ts'
import type { CorsOrigins } from './answer-headers.ts'
import { setOriginHeaders, setSafetyHeaders } from './answer-headers.ts'
import type { AuditTrail } from './audit-trail.ts'
import { whileCalledBy } from './caller.ts'
import type { Door } from './door.ts'
import { createOpenDoor } from './door.ts'

/** What the composition decides about access. */
export interface AccessControl {
  readonly door: Door
  /** The address or name the server listens on. */
  readonly host: string
  readonly origins: CorsOrigins
  /** False on a network that is trusted: an open server answers to any name. */
  readonly checksHost: boolean
}

/** As a server on this machine has it that nobody made tokens for. */
export const openAccess = (): AccessControl => ({
  door: createOpenDoor(),
  host: '127.0.0.1',
  origins: [],
  checksHost: true,
})

export const installAccess = (
  app: FastifyInstance,
  { door, host, origins, checksHost }: AccessControl,
  { internalToken, audit }: { readonly internalToken: string | null; readonly audit: AuditTrail },
): void => {
  const options = { door, internalToken, ownPages: { host, origins, checksHost } }
  app.decorateRequest('caller', null)

  app.addHook('onRequest', async (request, reply) => {
    setSafetyHeaders(reply.raw)
    if (setOriginHeaders(request, reply.raw, origins)) return reply.code(204).send()
    const access = accessOf(request)
    if (access === 'public') return undefined
    const admission = await admit(request, access, options)
    if (admission.kind === 'admitted' || admission.kind === 'forbidden') request.caller = admission.caller
    if (admission.kind !== 'admitted') throw problemOf(admission, reply)
    return undefined
  })

  // After the body was read: reading it leaves the context in which the request was first seen.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.caller === null) done()
    else whileCalledBy(request.caller, done)
  })

  app.addHook('onSend', async (request, reply, payload) => {
    await audit.record(request, reply.statusCode, payload)
  })
}

const REALM = 'Bearer realm="noetl"'

const problemOf = (
  admission: Exclude<Admission, { kind: 'admitted' }>,
  reply: FastifyReply,
): ProblemError => {
  switch (admission.kind) {
    case 'unauthorized':
      void reply.header('www-authenticate', admission.isInvalid ? `${REALM}, error="invalid_token"` : REALM)
      return new ProblemError('unauthorized', admission.error)
    case 'wait':
      void reply.header('retry-after', String(admission.seconds))
      return new ProblemError(
        'too_many_requests',
        `Too many wrong tokens came from this address; try again in ${admission.seconds} s`,
      )
    case 'unavailable':
      return new ProblemError('unavailable', admission.error)
    case 'forbidden':
      return new ProblemError('forbidden', admission.error)
    default:
      return admission satisfies never
  }
}
