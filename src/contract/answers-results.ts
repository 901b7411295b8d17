/** Answers of the result store. */
import { z } from 'zod'
import { anyValue, count, instant, textId } from './answer-parts.ts'

const scope = z.enum(['step', 'execution', 'workflow', 'permanent'])

const reference = {
  ref: z.string().meta({ description: 'Its reference, `noetl://execution/<id>/result/<name>/<id>`' }),
  store: z.literal('db'),
  scope,
  bytes: count,
  sha256: z.string(),
  media_type: z.string(),
  expires_at: instant.nullable(),
}

export const StoredResultAnswer = z.object(reference).meta({ id: 'ResultReference' })

const ResultItem = z
  .object({
    ...reference,
    name: z.string(),
    source_step: z.string().nullable(),
    uri: z.string().nullable(),
    created_at: instant,
  })
  .meta({ id: 'StoredResult' })

export const ResultListAnswer = z.object({ execution_id: textId, count, refs: z.array(ResultItem) })

/** The stored data is answered as it is. */
export const ResultDataAnswer = anyValue.meta({ id: 'ResultData', description: 'The stored JSON itself' })

export const ResultOfStepAnswer = z.union([ResultDataAnswer, ResultItem])

export const ResultStatsAnswer = z.object({
  store: z.literal('db'),
  results_estimated: count,
  bytes_on_disk: count,
})

export const ResultsDeletedAnswer = z.object({ execution_id: textId, deleted: count, scope })
