/** Breaks one thing after the other, and mends it some time later. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Processes, Unit } from './processes.ts'
import type { Chance } from './random.ts'

const WEIGHTS = {
  killServer: 4,
  killWorker: 5,
  interruptServer: 1,
  interruptWorker: 1,
  freezeServer: 3,
  freezeWorker: 4,
  cutConnections: 4,
  crashPostgres: 1,
} as const
export type FaultName = keyof typeof WEIGHTS

export interface FaultsOptions {
  readonly servers: readonly Unit[]
  readonly workers: readonly Unit[]
  readonly processes: Processes
  readonly database: Pool
  readonly chance: Chance
  readonly leaseSeconds: number
  readonly say: (text: string) => void
}

export interface Faults {
  readonly counts: Readonly<Record<FaultName, number>>
  run(isOver: () => boolean): Promise<void>
}

export const createFaults = (options: FaultsOptions): Faults => {
  const { servers, workers, processes, database, chance, leaseSeconds, say } = options
  const counts = Object.fromEntries(Object.keys(WEIGHTS).map((name) => [name, 0])) as Record<
    FaultName,
    number
  >
  const mending = new Set<Promise<void>>()
  const touched = new Set<Unit>()

  const one = (units: readonly Unit[]): Unit | null => {
    const free = units.filter((unit) => !touched.has(unit))
    return free.length === 0 ? null : chance.pick(free)
  }

  const restartLater = (units: readonly Unit[], how: 'kill' | 'interrupt'): string => {
    const unit = one(units)
    if (!unit) return 'nobody'
    later(unit, async () => {
      await unit[how]()
      await sleep(chance.between(200, 4000))
      await unit.start()
    })
    return unit.name
  }

  /** Often for longer than a lease. */
  const freeze = (units: readonly Unit[]): string => {
    const unit = one(units)
    if (!unit) return 'nobody'
    const milliseconds = chance.between(300, leaseSeconds * 1000 * 2.5)
    later(unit, async () => {
      unit.freeze()
      await sleep(milliseconds)
      unit.thaw()
    })
    return `${unit.name} for ${Math.round(milliseconds)} ms`
  }

  const later = (unit: Unit, work: () => Promise<void>): void => {
    touched.add(unit)
    const done = work()
      .catch((error: unknown) => say(`FAULT ${unit.name}: ${String(error)}`))
      .finally(() => {
        touched.delete(unit)
        mending.delete(done)
      })
    mending.add(done)
  }

  const cutConnections = async (): Promise<string> => {
    const wanted = Math.ceil(chance.between(0, 6))
    const { rowCount } = await database.query(
      `select pg_terminate_backend(pid) from (select pid from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() order by random() limit $1) victims`,
      [wanted],
    )
    return `${rowCount ?? 0} of them`
  }

  const strike: Readonly<Record<FaultName, () => Promise<string> | string>> = {
    killServer: () => restartLater(servers, 'kill'),
    killWorker: () => restartLater(workers, 'kill'),
    interruptServer: () => restartLater(servers, 'interrupt'),
    interruptWorker: () => restartLater(workers, 'interrupt'),
    freezeServer: () => freeze(servers),
    freezeWorker: () => freeze(workers),
    cutConnections,
    crashPostgres: async () => {
      await processes.crashPostgres()
      return ''
    },
  }

  return {
    counts,
    run: async (isOver) => {
      while (!isOver()) {
        await sleep(chance.between(1000, 5000))
        if (isOver()) break
        const name = chance.weighted(WEIGHTS)
        counts[name] += 1
        try {
          say(`${name} ${await strike[name]()}`)
        } catch (error) {
          say(`${name}: ${String(error)}`)
        }
      }
      while (mending.size > 0) await Promise.all(mending)
    },
  }
}
