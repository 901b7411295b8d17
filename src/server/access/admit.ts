/**
 * The decision at the entrance: may this request go on to its route, as whom, and if not, why.
 *
 * 1. Public routes ask for nothing. Every other one has a caller before anything of the request is done.
 * 2. A route that does not say what it asks for asks for an operator when it may change something. So does a path that
 *    is no route ask for a viewer: what exists here is told to callers only.
 * 3. Internal routes are opened by the internal token and by the token of an admin, never by the lack of tokens.
 */
import type { FastifyRequest } from 'fastify'
import type { Access, Role } from '../../contract/access.ts'
import { mayUse, rolesFor } from '../../contract/access.ts'
import { internalRefusal } from '../internal-access.ts'
import type { Caller } from './caller.ts'
import { ANONYMOUS, INTERNAL } from './caller.ts'
import { presentedToken } from './credentials.ts'
import type { Door, Entrance } from './door.ts'
import type { OwnPages } from './own-pages.ts'
import { strangerProblem } from './own-pages.ts'

export type Admission =
  | { readonly kind: 'admitted'; readonly caller: Caller }
  /** Known, but not with this role. */
  | { readonly kind: 'forbidden'; readonly caller: Caller | null; readonly error: string }
  | { readonly kind: 'unauthorized'; readonly error: string; readonly isInvalid: boolean }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'unavailable'; readonly error: string }

export interface EntranceOptions {
  readonly door: Door
  readonly internalToken: string | null
  readonly ownPages: OwnPages
}

type Request = Pick<FastifyRequest, 'method' | 'headers' | 'ip' | 'is404' | 'routeOptions'>

export const accessOf = ({ method, is404, routeOptions }: Request): Access => {
  if (is404) return 'viewer'
  const declared = routeOptions.config.spec?.access
  if (declared !== undefined) return declared
  if (routeOptions.url?.startsWith('/api/internal/') === true) return 'internal'
  return method === 'GET' || method === 'HEAD' ? 'viewer' : 'operator'
}

export const admit = async (
  request: Request,
  access: Access,
  options: EntranceOptions,
): Promise<Admission> => {
  if (access === 'internal') return admitInternal(request, options)
  const { door, ownPages, internalToken } = options
  if (
    request.routeOptions.config.spec?.orInternal === true &&
    internalRefusal(request.headers.authorization, internalToken) === null
  )
    return { kind: 'admitted', caller: INTERNAL }
  const presented = presentedToken(request)
  if (presented === undefined) return WRONG_SCHEME
  let entrance = await door.enter(presented?.token ?? null, request.ip)
  if (presented?.isCookie === true && !('caller' in entrance)) entrance = await door.enter(null, request.ip)
  if (!('caller' in entrance)) return refusalOf(entrance)
  const { caller } = entrance
  const stranger = caller === ANONYMOUS ? strangerProblem(request, ownPages) : null
  if (stranger !== null) return { kind: 'forbidden', caller: null, error: stranger }
  return mayUse(caller.role, access)
    ? { kind: 'admitted', caller }
    : { kind: 'forbidden', caller, error: roleProblem(caller.name, caller.role, access) }
}

const admitInternal = async (
  { method, headers, ip }: Request,
  { door, internalToken }: EntranceOptions,
): Promise<Admission> => {
  const presented = presentedToken({ method, headers: { authorization: headers.authorization } })
  const wait = presented ? door.waitSeconds(presented.token, ip) : 0
  if (wait > 0) return { kind: 'wait', seconds: wait }
  const refusal = internalRefusal(headers.authorization, internalToken)
  if (refusal === null) return { kind: 'admitted', caller: INTERNAL }
  const entrance = presented ? await door.enter(presented.token, ip) : null
  if (entrance && 'caller' in entrance) {
    const { caller } = entrance
    return mayUse(caller.role, 'internal')
      ? { kind: 'admitted', caller }
      : { kind: 'forbidden', caller, error: roleProblem(caller.name, caller.role, 'internal') }
  }
  const { code: kind, error } = refusal
  return kind === 'forbidden' ? { kind, caller: null, error } : { kind, error }
}

const WRONG_SCHEME: Admission = {
  kind: 'unauthorized',
  error: "The Authorization header must be 'Bearer <token>'",
  isInvalid: true,
}

const refusalOf = (entrance: Exclude<Entrance, { caller: Caller }>): Admission => {
  if ('waitSeconds' in entrance) return { kind: 'wait', seconds: entrance.waitSeconds }
  if ('refusal' in entrance) return { kind: 'unauthorized', error: entrance.refusal, isInvalid: true }
  return {
    kind: 'unauthorized',
    error: "This server needs an access token; send it as 'Authorization: Bearer <token>'",
    isInvalid: false,
  }
}

const roleProblem = (name: string, role: Role, access: Access): string =>
  `This needs the role ${rolesFor(access)}; '${name}' has the role ${role}`
