/**
 * Copies rows from one store to another.
 *
 * 1. Rows go in chunks from source to target: memory does not grow with the number of rows (an HTTP answer is read as a
 *    whole, up to the limit of the http tool).
 * 2. The target is all or nothing: every row is there afterwards, or it is as it was before.
 * 3. `append` adds; `replace` empties the target in the same transaction; `upsert` writes over rows with the same `key`.
 * 4. Errors are those of the two sides and say which side it was.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { unavailableText } from '../../contract/tools/all.ts'
import { transfer } from '../../contract/tools/transfer.ts'
import { configFailure, failed } from '../tool-failure.ts'
import type { Tool, ToolCall, ToolResult } from '../tool.ts'
import { firstGiven, integerField, textField, textOf } from './coerce.ts'
import { createConnectionPools } from './postgres/connection-pools.ts'
import { toolUnavailable } from './tool-unavailable.ts'
import { httpSource, rowsSource } from './transfer/document-source.ts'
import { type DuckdbSide, withDuckdbSource, withDuckdbTarget } from './transfer/duckdb-side.ts'
import { withPostgresSource, withPostgresTarget } from './transfer/postgres-side.ts'
import { type Mapping, mappingOf, project, type RowSource, type RowTarget } from './transfer/rows.ts'
import {
  onSide,
  type SideContext,
  type SideName,
  type TargetOptions,
  type TransferMode,
} from './transfer/side.ts'

export interface TransferToolOptions {
  readonly duckdb: DuckdbSide
  /** Fetches what an http source names. */
  readonly http: Tool
}

const DEFAULT_CHUNK = 1000
const MODES: readonly TransferMode[] = ['append', 'replace', 'upsert']
const SYNONYMS: Readonly<Record<string, string>> = {
  postgresql: 'postgres',
  pg: 'postgres',
  https: 'http',
  data: 'rows',
}
const TYPES: Readonly<Record<SideName, readonly string[]>> = {
  source: ['postgres', 'duckdb', 'http', 'rows'],
  target: ['postgres', 'duckdb'],
}

interface Side {
  readonly type: string
  readonly block: JsonObject
}

const sideOf = (config: JsonObject, name: SideName): Side => {
  const block = config[name]
  if (!isObject(block ?? null))
    throw configFailure(`${name} must be a mapping such as {type: postgres, auth: …}`)
  const side = block as JsonObject
  const word = textField(side, 'type', 'tool', 'kind')?.toLowerCase() ?? null
  const known = TYPES[name]
  if (word === null) throw configFailure(`${name}.type is missing; use ${known.join(', ')}`)
  const type = SYNONYMS[word] ?? word
  if (known.includes(type)) return { type, block: side }
  const unavailable = type === 'snowflake' ? unavailableText(type) : null
  if (unavailable !== null) throw toolUnavailable(`${name}: ${unavailable}`)
  throw configFailure(`${name}.type is ${word}, but must be one of ${known.join(', ')}`)
}

const modeOf = (config: JsonObject, target: JsonObject): TransferMode => {
  const word = (textField(config, 'mode') ?? textField(target, 'mode') ?? 'append').toLowerCase()
  const mode = MODES.find((each) => each === word)
  if (mode === undefined) throw configFailure(`mode must be one of ${MODES.join(', ')}, not ${word}`)
  return mode
}

const targetOptions = (config: JsonObject, target: JsonObject): TargetOptions => {
  const mode = modeOf(config, target)
  const names = ['key', 'keys', 'key_columns'] as const
  const found = firstGiven(config, names) ?? firstGiven(target, names)
  const list: readonly Json[] = found === null ? [] : Array.isArray(found.value) ? found.value : [found.value]
  const key = list.flatMap((name) => textOf(name) ?? [])
  if (mode === 'upsert' && key.length === 0) {
    throw configFailure('mode: upsert needs key, the columns that say which row is meant, such as key: [id]')
  }
  return { mode, key: mode === 'upsert' ? key : [] }
}

interface Counts {
  rows: number
  chunks: number
  columns: readonly string[]
}

const copy = async (source: RowSource, target: RowTarget, mapping: Mapping | null): Promise<Counts> => {
  const counts: Counts = { rows: 0, chunks: 0, columns: [] }
  const chunks = source.chunks()[Symbol.asyncIterator]()
  for (;;) {
    const next = await onSide('source', async () => chunks.next())
    if (next.done === true) return counts
    const chunk = await onSide('source', async () => project(next.value, mapping, source.isOpen))
    // Rows without a single column, as an empty document gives, are no rows.
    const isEmpty = chunk.rows.length === 0 || chunk.columns.length === 0
    if (chunk.columns.length > 0) await onSide('target', () => target.write(chunk, source.isServerText))
    if (isEmpty && counts.chunks > 0) continue
    counts.columns = chunk.columns
    counts.rows += isEmpty ? 0 : chunk.rows.length
    counts.chunks += isEmpty ? 0 : 1
  }
}

export const createTransferTool = ({ duckdb, http }: TransferToolOptions): Tool => {
  const pools = createConnectionPools()

  const withSource = async <T>(
    { type, block }: Side,
    call: ToolCall,
    context: SideContext,
    isServerText: boolean,
    work: (source: RowSource) => Promise<T>,
  ): Promise<T> => {
    if (type === 'postgres') return withPostgresSource(pools, block, context, isServerText, work)
    if (type === 'duckdb') return withDuckdbSource(duckdb, block, context, work)
    if (type === 'rows') return work(rowsSource(block, context.chunkSize))
    return work(await httpSource(http, block, call, context.chunkSize))
  }

  const withTarget = <T>(
    { type, block }: Side,
    context: SideContext,
    options: TargetOptions,
    work: (target: RowTarget) => Promise<T>,
  ): Promise<T> =>
    type === 'postgres'
      ? withPostgresTarget(pools, block, context, options, work)
      : withDuckdbTarget(duckdb, block, context, options, work)

  const run = async (call: ToolCall): Promise<ToolResult> => {
    const { config, signal, command } = call
    const source = sideOf(config, 'source')
    const target = sideOf(config, 'target')
    const options = targetOptions(config, target.block)
    const mapping = mappingOf(target.block['mapping'] ?? config['mapping'])
    const chunkSize = integerField(config, 'chunk_size', 1) ?? DEFAULT_CHUNK
    const context = { signal, chunkSize, executionId: command.executionId, isInner: false }
    const inner = { ...context, isInner: source.type === 'duckdb' }
    // A path into a column needs the value; plain columns may keep the text of their server.
    const isServerText =
      target.type === 'postgres' && mapping?.some(([, field]) => /[.[]/.test(field)) !== true
    const counts = await onSide('source', () =>
      withSource(source, call, context, isServerText, (from) =>
        onSide('target', () => withTarget(target, inner, options, (to) => copy(from, to, mapping))),
      ),
    )
    return {
      outcome: 'ok',
      data: {
        status: 'success',
        direction: `${source.type}_to_${target.type}`,
        source_type: source.type,
        target_type: target.type,
        mode: options.mode,
        rows_transferred: counts.rows,
        chunks_processed: counts.chunks,
        target_table: textField(target.block, 'table'),
        columns: counts.columns,
      },
    }
  }

  return {
    kind: 'transfer',
    declaration: transfer,
    instant: false,
    async run(call) {
      try {
        return await run(call)
      } catch (thrown) {
        return failed(call.signal.aborted ? call.signal.reason : thrown)
      }
    },
    close: () => pools.close(),
  }
}
