/** Recording that a step does not run, and why. */
import { EVENT } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import type { Session } from './session.ts'
import { emit, FINAL } from './session.ts'

/**
 * `guard`: its own condition said no; it is bypassed and its arcs are evaluated.
 * `dead_path`: no arc can lead to it any more. `upstream_failed`: a step it would join failed unhandled.
 */
export type SkipReason = 'guard' | 'dead_path' | 'upstream_failed'

export const skipStep = (session: Session, name: string, reason: SkipReason, final = false): void => {
  const context: Record<string, Json> = { reason }
  if (reason !== 'guard') {
    const dead = [...new Set(session.graph.step(name).arcs.map((arc) => arc.to))].filter((to) => to !== name)
    if (dead.length > 0) context['dead'] = dead
  }
  emit(session, {
    eventType: EVENT.stepSkipped,
    nodeName: name,
    status: 'SKIPPED',
    result: { status: 'SKIPPED', context },
    ...(final ? { meta: FINAL } : {}),
  })
}
