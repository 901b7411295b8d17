/**
 * Batches of events that were given ids of their own before they are written, so that a second attempt at the same batch,
 * here or on another server, is recognised.
 *
 * 1. A batch is written by one commit, so when one of these ids is in the log all of it was done. Then every one of them
 *    counts as known, also those of events that had nothing to record: deciding these again, on a later state, could do what
 *    the first attempt did not.
 * 2. The log is asked once for each time that a batch is decided, when the first of the ids is. If the batch is written
 *    elsewhere meanwhile, the commit that follows loses its race, and the batch is decided again.
 */

export interface WholeRepeats {
  /** Whether an event is in the log, or belongs to a batch under way of which something is. */
  isKnown(executionId: string, eventId: string): Promise<boolean>
  /** Runs while a batch is under way; `ids` are those it was given, which nothing else has, in its order. */
  during<T>(ids: readonly string[], run: () => Promise<T>): Promise<T>
}

interface UnderWay {
  readonly ids: readonly string[]
  isWritten: boolean
}

interface Log {
  hasEvent(executionId: string, eventId: string): Promise<boolean>
  findWritten(executionId: string, eventIds: readonly string[]): Promise<ReadonlySet<string>>
}

export const createWholeRepeats = ({ hasEvent, findWritten }: Log): WholeRepeats => {
  const underWay = new Map<string, UnderWay>()
  return {
    isKnown: async (executionId, eventId) => {
      const batch = underWay.get(eventId)
      if (!batch) return hasEvent(executionId, eventId)
      if (eventId === batch.ids[0]) batch.isWritten = (await findWritten(executionId, batch.ids)).size > 0
      return batch.isWritten
    },
    during: async (ids, run) => {
      const batch: UnderWay = { ids, isWritten: false }
      for (const id of ids) underWay.set(id, batch)
      try {
        return await run()
      } finally {
        for (const id of ids) underWay.delete(id)
      }
    },
  }
}
