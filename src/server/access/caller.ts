/**
 * Who makes a request, and how the rest of the server gets to know.
 *
 * 1. `request.caller` is set before the body is read; it is null on public routes and before the door is passed.
 * 2. While a handler runs, `currentActor` names its caller to whoever writes a log of what happened, however deep below
 *    the handler. Outside of requests (timers, the worker in this process) there is none.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Role } from '../../contract/access.ts'

export interface Caller {
  /** Of the token; a fixed word for callers without one of their own. */
  readonly name: string
  readonly role: Role
  readonly tokenId: string | null
  readonly expiresAt: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
}

const named = (name: string): Caller => ({ name, role: 'admin', tokenId: null, expiresAt: null })

/** Somebody without credentials on an open server. */
export const ANONYMOUS = named('anonymous')
/** Somebody who can read this server's file in the data directory. */
export const LOCAL = named('local')
/** The holder of the token that was given by the environment. */
export const ENVIRONMENT = named('environment')
/** The holder of the internal token; let in at internal routes only. */
export const INTERNAL = named('internal')

const handling = new AsyncLocalStorage<Caller | null>()

export const whileCalledBy = <T>(caller: Caller, run: () => T): T => handling.run(caller, run)

/** For work that a request sets off but that is not done for its caller. */
export const onOnesOwn = <T>(run: () => T): T => handling.run(null, run)

/** `name/role`, or one word for a caller that only has a name; null outside of requests. */
export const currentActor = (): string | null => {
  const caller = handling.getStore() ?? null
  return caller === null ? null : actorOf(caller)
}

export const actorOf = ({ name, role, tokenId }: Caller): string =>
  tokenId === null ? name : `${name}/${role}`
