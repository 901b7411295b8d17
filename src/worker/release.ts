/** Hands leases back. Best effort: a lease that cannot be handed back expires. */
import type { ControlPlane, LeasedCommand } from '../contract/command.ts'
import { leaseKey } from './held-command.ts'
import type { Log } from './log.ts'

export interface ReleaseOptions {
  readonly controlPlane: ControlPlane
  readonly workerId: string
  readonly log: Log
}

export interface Release {
  handBack(commands: readonly LeasedCommand[]): void
  /** Resolves when every call made so far is answered. */
  settled(): Promise<void>
}

export const createRelease = ({ controlPlane, workerId, log }: ReleaseOptions): Release => {
  const open = new Set<Promise<void>>()

  const send = async (commands: readonly LeasedCommand[]): Promise<void> => {
    try {
      await controlPlane.release({ workerId, leases: commands.map(leaseKey) })
    } catch (error) {
      log.warn({ err: error, count: commands.length }, 'cannot hand back work, its leases will expire')
    }
  }

  return {
    handBack(commands) {
      if (commands.length === 0) return
      const call = send(commands).then(() => void open.delete(call))
      open.add(call)
    },
    async settled() {
      await Promise.all(open)
    },
  }
}
