/** Documents as a source: the JSON that a server answers, or rows that the playbook has at hand. */
import type { Json, JsonObject } from '../../../contract/json.ts'
import { isObject } from '../../../contract/json.ts'
import { configFailure, ToolFailure } from '../../tool-failure.ts'
import type { Tool, ToolCall } from '../../tool.ts'
import { textField } from '../coerce.ts'
import { documentsToChunks, pathParts, type RowChunk, type RowSource, valueAtPath } from './rows.ts'

const sourceOf = (documents: readonly JsonObject[], chunkSize: number): RowSource => ({
  isOpen: true,
  isServerText: false,
  async *chunks(): AsyncGenerator<RowChunk> {
    yield* documentsToChunks(documents, chunkSize)
  },
})

/** A list of mappings; one mapping is a list of one. */
const documentsOf = (value: Json, place: string): readonly JsonObject[] => {
  const list: readonly Json[] = Array.isArray(value) ? value : [value]
  const odd = list.findIndex((item) => !isObject(item))
  if (odd < 0) return list as readonly JsonObject[]
  throw configFailure(
    `${place} must be a list of mappings, one for each row; item ${odd} is ${JSON.stringify(list[odd])?.slice(0, 80)}`,
  )
}

/** Fields of a source that are about the transfer, not the request. */
const OWN = new Set(['type', 'tool', 'kind', 'data_path', 'chunk_size', 'mapping'])

export const httpSource = async (
  http: Tool,
  side: JsonObject,
  call: ToolCall,
  chunkSize: number,
): Promise<RowSource> => {
  const config = Object.fromEntries(Object.entries(side).filter(([name]) => !OWN.has(name)))
  const answer = await http.run({ ...call, config })
  if (answer.error !== undefined) throw new ToolFailure(answer.error)
  const path = textField(side, 'data_path')
  const body = isObject(answer.data ?? null) ? ((answer.data as JsonObject)['data'] ?? null) : null
  const found = path === null ? body : valueAtPath(body, pathParts(path))
  if (found === null) {
    throw configFailure(
      path === null
        ? 'The answer has no JSON body'
        : `The answer has nothing at data_path ${path}; its body is ${Array.isArray(body) ? 'a list' : `a mapping of ${isObject(body) ? Object.keys(body).join(', ') : 'nothing'}`}`,
    )
  }
  return sourceOf(documentsOf(found, path === null ? 'The answer' : `data_path ${path}`), chunkSize)
}

export const rowsSource = (side: JsonObject, chunkSize: number): RowSource => {
  const rows = side['rows'] ?? side['data']
  if (rows === undefined || rows === null) {
    throw configFailure('source.rows is missing: give a list of mappings, such as {{ fetch.rows }}')
  }
  return sourceOf(documentsOf(rows, 'source.rows'), chunkSize)
}
