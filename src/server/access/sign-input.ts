/**
 * Writes who asked for it on what is told to an execution.
 *
 * 1. What people and programs ask for is signed with their name. What workers report and what the server does by itself
 *    is not: events say already which worker, and which part of the server.
 * 2. Nobody signs with another name: an `actor` that came along with a report is replaced.
 */
import type { Input } from '../../engine/input.ts'
import { currentActor } from './caller.ts'

const ASKED_FOR: ReadonlySet<Input['type']> = new Set(['start', 'variables', 'reopen', 'cancel', 'finalize'])

export const signed = <I extends Input>(input: I): I => {
  if (input.type === 'report') {
    if (!Object.hasOwn(input.meta, 'actor')) return input
    return { ...input, meta: { ...input.meta, actor: currentActor() } }
  }
  const actor = ASKED_FOR.has(input.type) ? currentActor() : null
  return actor === null ? input : { ...input, actor }
}
