/**
 * Work for the worker in this process. A command may be issued already leased to it, which saves a commit and a
 * round through the queue; a slot is reserved while the commit is on its way.
 */
import type { LeasedCommand } from '../contract/command.ts'

/** What the control plane needs to know of the worker beside it. */
export interface LocalWorker {
  readonly workerId: string
  readonly pool: string
  freeSlots(): number
  /** Instant tools need no slot. */
  isInstant(toolKind: string): boolean
  /** Whether the worker has this tool at all. */
  canRun(toolKind: string): boolean
  /** What work may ask of it; nothing when not given. */
  readonly capabilities?: ReadonlySet<string>
  accept(commands: readonly LeasedCommand[]): void
}

export interface LocalSlots {
  readonly workerId: string
  /** True when the worker takes a command of this kind now. */
  reserve(pool: string, toolKind: string, requires?: readonly string[]): boolean
  /** The commit was lost; the slots are free again. */
  giveBack(toolKinds: readonly string[]): void
  deliver(commands: readonly LeasedCommand[]): void
}

export const createLocalSlots = (worker: LocalWorker): LocalSlots => {
  let reserved = 0
  const giveBack = (toolKinds: readonly string[]): void => {
    for (const kind of toolKinds) if (!worker.isInstant(kind)) reserved -= 1
  }
  return {
    workerId: worker.workerId,
    reserve: (pool, toolKind, requires = []) => {
      if (pool !== worker.pool || !worker.canRun(toolKind)) return false
      if (!requires.every((word) => worker.capabilities?.has(word) ?? false)) return false
      if (worker.isInstant(toolKind)) return true
      if (worker.freeSlots() - reserved <= 0) return false
      reserved += 1
      return true
    },
    giveBack,
    deliver: (commands) => {
      giveBack(commands.map((command) => command.toolKind))
      worker.accept(commands)
    },
  }
}
