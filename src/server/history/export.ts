/**
 * An execution as a file. It is written as it is read, a page at a time, whatever its size.
 *
 * 1. What is exported is the log up to its end at the beginning of the export, though the execution may go on.
 * 2. Without secrets the readable form of each row is exported; how many lines miss something is told at the end.
 * 3. The last line has the digest of all others: a file without it is not whole.
 */
import { createHash } from 'node:crypto'
import type { EventRecord } from '../../contract/event.ts'
import type { Json } from '../../contract/json.ts'
import { redact, REDACTED } from '../../contract/sensitive.ts'
import type { EventLine, ExecutionLine, ResultLine, TransferLine } from '../../contract/transfer.ts'
import { TRANSFER_FORMAT, TRANSFER_VERSION } from '../../contract/transfer.ts'
import { exactJson, parseJson } from '../../lib/exact-json.ts'
import { readCatalogEntry } from '../../store/catalog.ts'
import { fromEventRow } from '../../store/event-row.ts'
import type { ExecutionRow } from '../../store/executions.ts'
import { listChildren } from '../../store/executions.ts'
import type { StoredResult } from '../../store/results.ts'
import { readEventRows, readResultsAfter } from '../../store/transfer.ts'
import type { Core } from '../core.ts'
import { demandRow } from './cutoff.ts'

export interface ExportOptions {
  readonly withChildren: boolean
  readonly secrets: boolean
}

const EVENTS_AT_ONCE = 500
/** A value that was replaced, as it stands in a line. */
const HIDDEN = JSON.stringify(REDACTED)
const RESULTS_AT_ONCE = 4

/** The lines of the file, each with its line break. */
export async function* exportExecution(
  core: Core,
  executionId: string,
  options: ExportOptions,
): AsyncGenerator<string> {
  const digest = createHash('sha256')
  let lines = 0
  let hidden = 0
  const write = (line: TransferLine): string => {
    const text = `${exactJson(line)}\n`
    digest.update(text)
    lines += 1
    if (text.includes(HIDDEN)) hidden += 1
    return text
  }
  yield write({
    type: 'header',
    format: TRANSFER_FORMAT,
    version: TRANSFER_VERSION,
    execution_id: executionId,
    secrets: options.secrets,
  })
  const defined = new Set<string>()
  for await (const id of family(core, executionId, options.withChildren)) {
    const row = await demandRow(core, id)
    if (!defined.has(row.catalog_id)) {
      defined.add(row.catalog_id)
      const entry = await readCatalogEntry(core.shards.cluster, row.catalog_id)
      if (entry) {
        const { catalog_id, path, version, kind, content } = entry
        yield write({ type: 'definition', catalog_id, path, version, kind, content })
      }
    }
    yield write(executionLine(row))
    for await (const page of eventLines(core, row, options)) {
      yield page.map(write).join('')
    }
    for await (const line of resultLines(core, id, options)) yield write(line)
  }
  yield `${JSON.stringify({ type: 'end', lines, hidden, sha256: digest.digest('hex') })}\n`
}

/** The execution, and what it started, level by level. */
async function* family(core: Core, executionId: string, withChildren: boolean): AsyncGenerator<string> {
  yield executionId
  const seen = new Set([executionId])
  for (let level: readonly string[] = withChildren ? [executionId] : []; level.length > 0;) {
    const parents = level
    const found = await Promise.all(core.shards.all.map((database) => listChildren(database, parents)))
    level = found
      .flat()
      .map(({ execution_id }) => execution_id)
      .filter((id) => !seen.has(id))
      .sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
    for (const id of level) seen.add(id)
    yield* level
  }
}

const executionLine = (row: ExecutionRow): ExecutionLine => ({
  type: 'execution',
  execution_id: row.execution_id,
  catalog_id: row.catalog_id,
  path: row.path,
  playbook_version: row.playbook_version,
  parent_execution_id: row.parent_execution_id,
  origin_execution_id: row.origin_execution_id,
  origin_event: row.origin_event,
  pool: row.pool,
  status: row.status,
  events: row.version,
  started_at: row.started_at,
  updated_at: row.updated_at,
  finished_at: row.finished_at,
  error: row.error,
})

async function* eventLines(
  core: Core,
  { execution_id: id, version: upTo }: ExecutionRow,
  { secrets }: ExportOptions,
): AsyncGenerator<readonly EventLine[]> {
  const database = core.shards.of(id)
  for (let after = 0; after < upTo;) {
    const rows = await readEventRows(database, id, { after, upTo, limit: EVENTS_AT_ONCE })
    const last = rows.at(-1)
    if (!last) return
    yield rows.map((row) => eventLine(fromEventRow(row, secrets ? core.sealer : null)))
    after = last.position
  }
}

const eventLine = (event: EventRecord): EventLine => ({
  type: 'event',
  execution_id: event.executionId,
  position: event.position,
  event_id: event.eventId,
  created_at: event.createdAt,
  event_type: event.eventType,
  node_name: event.nodeName,
  node_type: event.nodeType,
  status: event.status,
  parent_event_id: event.parentEventId,
  worker_id: event.workerId,
  duration_ms: event.durationMs,
  context: event.context,
  result: event.result,
  meta: event.meta,
  error: event.error,
})

async function* resultLines(
  core: Core,
  executionId: string,
  { secrets }: ExportOptions,
): AsyncGenerator<ResultLine> {
  const database = core.shards.of(executionId)
  for (let after = '-1'; ;) {
    const rows = await readResultsAfter(database, executionId, after, RESULTS_AT_ONCE)
    for (const row of rows) {
      const data = parseJson(core.sealer.open(row.data)) as Json
      yield resultLine(row, secrets ? data : redact(data))
    }
    if (rows.length < RESULTS_AT_ONCE) return
    after = rows.at(-1)?.result_id ?? after
  }
}

const resultLine = (row: StoredResult, data: Json): ResultLine => ({
  type: 'result',
  execution_id: row.execution_id,
  result_id: row.result_id,
  name: row.name,
  scope: row.scope,
  source_step: row.source_step,
  media_type: row.media_type,
  logical_uri: row.logical_uri,
  bytes: row.bytes,
  sha256: row.sha256,
  created_at: row.created_at,
  data,
})
