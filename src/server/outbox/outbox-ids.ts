/**
 * Ids of messages for callers. Every database counts its own from 1, so with several of them the id that a caller sees
 * carries the number of the database. With one database both are the same.
 */
import type { Database } from '../../store/database.ts'
import type { Shards } from '../../store/shards.ts'

export interface OutboxIds {
  /** The id that callers see. */
  toWire(shard: number, outboxId: string): string
  /** Ids that callers sent, by the database they are of. */
  byDatabase(wireIds: readonly string[]): ReadonlyMap<Database, readonly string[]>
}

export const outboxIds = ({ all }: Pick<Shards, 'all'>): OutboxIds => {
  const count = (): bigint => BigInt(all.length)
  return {
    toWire: (shard, outboxId) => String(BigInt(outboxId) * count() + BigInt(shard)),
    byDatabase: (wireIds) => {
      const groups = new Map<Database, string[]>()
      for (const wireId of wireIds) {
        const value = BigInt(wireId)
        const database = value < 0n ? undefined : all[Number(value % count())]
        if (!database) continue
        const group = groups.get(database) ?? []
        groups.set(database, group)
        group.push(String(value / count()))
      }
      return groups
    },
  }
}
