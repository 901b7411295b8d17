/** Who gets the commands that a turn has just issued: the worker in this process as far as it has room, else a pool. */
import type { LeasedCommand } from '../contract/command.ts'
import { decide } from '../engine/decide.ts'
import { commandIdOf } from '../engine/envelope.ts'
import { requirementsOf } from '../engine/requirements.ts'
import type { Session } from '../engine/session.ts'
import { LOCAL_TOKEN, poolOf, SERVER_POOL, TIMER_POOL } from './build-append.ts'
import { toLeasedCommand } from './leased-command.ts'
import type { LocalSlots } from './local-slots.ts'

/** Leases what was issued to the worker beside us; the same commit that issues it makes that true. */
export const takeLocally = (session: Session, slots: LocalSlots): readonly LeasedCommand[] => {
  const taken: LeasedCommand[] = []
  const requires = requirementsOf(session.graph.playbook)
  for (const issued of session.issued) {
    const commandId = commandIdOf(issued.meta, undefined) ?? ''
    const toolKind = issued.nodeType ?? ''
    if (
      !session.state.commands.has(commandId) ||
      !slots.reserve(poolOf(session.state, toolKind), toolKind, requires)
    )
      continue
    const { workerId } = slots
    const reply = decide(session, { type: 'claim', commandId, workerId, leaseToken: LOCAL_TOKEN })
    // A report in this very turn may have named another holder.
    if (!reply.ok) slots.giveBack([toolKind])
    else taken.push(toLeasedCommand(issued, { commandId, leaseToken: LOCAL_TOKEN, attempt: 1 }))
  }
  return taken
}

/** Where this commit put work that somebody must fetch. */
export const waitingPools = (
  { state, issued, changes, timers }: Session,
  local: readonly LeasedCommand[],
): ReadonlySet<string> => {
  const pools = new Set<string>()
  const taken = new Set(local.map((command) => command.eventId))
  for (const event of issued) if (!taken.has(event.eventId)) pools.add(poolOf(state, event.nodeType ?? ''))
  if (changes.some((change) => change.status === 'PENDING')) pools.add(state.pool).add(SERVER_POOL)
  if (timers.some((timer) => timer.delayMs === 0)) pools.add(TIMER_POOL)
  return pools
}
