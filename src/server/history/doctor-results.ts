/**
 * Results that are stored apart, held against the events that refer to them.
 *
 * 1. What an event refers to is there, with the size and the digest that the event names, and as many bytes lie there. The data
 *    itself is not read: it is sealed, and does not open when it was changed.
 * 2. A row that no event refers to is no difference: a row is written before its event, and a report that is refused, because its
 *    lease was lost, leaves it behind. It is counted when the execution is over; until then its event may still come.
 * 3. Events and rows are looked at a page at a time; of what was referred to only the ids are kept.
 */
import type { EventRecord } from '../../contract/event.ts'
import type { LoggedReference } from '../../engine/audit-log.ts'
import { contextReference, referenceIn } from '../../engine/audit-log.ts'
import { SEAL_HEAD, SEAL_TAIL } from '../../lib/sealer.ts'
import type { Database } from '../../store/database.ts'
import type { ResultFacts } from '../../store/result-audit.ts'
import {
  countResultsOfNobody,
  listContextReferences,
  listResultFactsAfter,
  readResultFacts,
} from '../../store/result-audit.ts'
import type { Doctor, Examination, Finding } from './examination.ts'

const PAGE = 1000

export interface ResultsExam {
  /** To be told of every event; one after the end of the execution changed nothing, and need not be right. */
  see(event: EventRecord, isAfterEnd: boolean): void
  /** Looks for what the events since the last time refer to, which reach up to this position. */
  look(upTo: number): Promise<void>
  finish(isOver: boolean): Promise<Partial<Examination>>
}

export const examineResults = (database: Database, executionId: string): ResultsExam => {
  const known = new Set<string>()
  const namedAfterEnd = new Set<string>()
  let wanted: LoggedReference[] = []
  let lookedUpTo = 0
  const differences: Finding[] = []
  const note = (message: string, stored: string | number | null, folded: string | number | null): void => {
    differences.push({ execution_id: executionId, kind: 'result', message, stored, folded })
  }

  const check = ({ ref, name, bytes, sha256 }: LoggedReference, row: ResultFacts | undefined): void => {
    if (!row?.is_live || row.name !== name) return note(`the result ${ref} is not there`, null, null)
    if (bytes !== null && bytes !== row.bytes)
      note(`the result ${ref} has not the size that its event names`, row.bytes, bytes)
    if (sha256 !== null && sha256 !== row.sha256)
      note(`the result ${ref} has not the digest that its event names`, row.sha256, sha256)
    const stored = row.sealed_bytes - SEAL_HEAD - SEAL_TAIL
    if (stored !== row.bytes) note(`the data of the result ${ref} is not of its size`, stored, row.bytes)
  }

  return {
    see: (event, isAfterEnd) => {
      const found = referenceIn(event)
      if (!found) return
      if (isAfterEnd) namedAfterEnd.add(found.resultId)
      else wanted.push(found)
    },
    look: async (upTo) => {
      for (const ref of await listContextReferences(database, executionId, { after: lookedUpTo, upTo })) {
        const found = contextReference(executionId, ref)
        if (found) wanted.push(found)
      }
      lookedUpTo = upTo
      // The end of an execution names the result of its last step once more.
      const fresh = wanted.filter(({ resultId }) => !known.has(resultId))
      for (let from = 0; from < fresh.length; from += PAGE) {
        const some = fresh.slice(from, from + PAGE)
        const rows = await readResultFacts(
          database,
          executionId,
          some.map(({ resultId }) => resultId),
        )
        const byId = new Map(rows.map((row) => [row.result_id, row]))
        for (const each of some) {
          if (!known.has(each.resultId)) check(each, byId.get(each.resultId))
          known.add(each.resultId)
        }
      }
      wanted = []
    },
    finish: async (isOver) => {
      const named = new Set([...known, ...namedAfterEnd])
      const unreferenced = isOver ? await countOthers(database, executionId, named) : { count: 0, bytes: 0 }
      return {
        results: known.size,
        unreferenced_results: unreferenced.count,
        unreferenced_bytes: unreferenced.bytes,
        differences,
      }
    },
  }
}

interface Others {
  readonly count: number
  readonly bytes: number
}

const countOthers = async (
  database: Database,
  executionId: string,
  known: ReadonlySet<string>,
): Promise<Others> => {
  let count = 0
  let bytes = 0
  for (let after = '-1'; ;) {
    const rows = await listResultFactsAfter(database, executionId, after, PAGE)
    for (const row of rows) {
      if (known.has(row.result_id)) continue
      count += 1
      bytes += row.bytes
    }
    if (rows.length < PAGE) return { count, bytes }
    after = rows.at(-1)?.result_id ?? after
  }
}

/** Results that no execution would lead to. */
export const examineLooseResults = async ({ shards }: Doctor): Promise<Partial<Examination>> => {
  const found = await Promise.all(shards.all.map(countResultsOfNobody))
  return {
    unreferenced_results: found.reduce((sum, { count }) => sum + count, 0),
    unreferenced_bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}
