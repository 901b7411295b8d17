/**
 * The file that an execution travels in: lines of JSON, each with a `type`.
 *
 * | line | what it holds |
 * |---|---|
 * | header | the format, its version, which execution it is about, whether secrets are in it |
 * | definition | a playbook, before the first execution that runs it |
 * | execution | where an execution stands; its events and results follow |
 * | event | one event, in the order of positions from 1 without gaps |
 * | result | a result that is stored apart |
 * | end | how many lines came before, and their SHA-256 |
 *
 * Nothing in it depends on when or where it was written: exporting what was imported gives the same file.
 */
import { z } from 'zod'
import { idSchema } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import { isObject } from './json.ts'

export const TRANSFER_FORMAT = 'noetl.execution'
export const TRANSFER_VERSION = 1
export const TRANSFER_TYPE = 'application/x-ndjson'

const json = z.custom<Json>((value) => value !== undefined)
const object = z.custom<JsonObject>(isObject)
const text = z.string().nullable()
const instant = z.iso.datetime()
const id = idSchema('id')

export const HeaderLine = z.object({
  type: z.literal('header'),
  format: z.literal(TRANSFER_FORMAT),
  version: z.number().int(),
  execution_id: id,
  secrets: z.boolean(),
})
export type HeaderLine = z.infer<typeof HeaderLine>

export const DefinitionLine = z.object({
  type: z.literal('definition'),
  catalog_id: id,
  path: z.string(),
  version: z.number().int().positive(),
  kind: z.string(),
  content: z.string(),
})
export type DefinitionLine = z.infer<typeof DefinitionLine>

export const ExecutionLine = z.object({
  type: z.literal('execution'),
  execution_id: id,
  catalog_id: id,
  path: z.string(),
  playbook_version: z.number().int().nullable(),
  parent_execution_id: id.nullable(),
  origin_execution_id: id.nullable(),
  origin_event: id.nullable(),
  pool: z.string(),
  status: z.enum(['RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED']),
  events: z.number().int().min(0),
  started_at: instant,
  updated_at: instant,
  finished_at: instant.nullable(),
  error: text,
})
export type ExecutionLine = z.infer<typeof ExecutionLine>

export const EventLine = z.object({
  type: z.literal('event'),
  execution_id: id,
  position: z.number().int().positive(),
  event_id: id,
  created_at: instant,
  event_type: z.string().min(1),
  node_name: text,
  node_type: text,
  status: text,
  parent_event_id: id.nullable(),
  worker_id: text,
  duration_ms: z.number().nullable(),
  context: json,
  result: z
    .object({ status: z.string(), context: object.optional(), reference: object.optional() })
    .nullable(),
  meta: object,
  error: text,
})
export type EventLine = z.infer<typeof EventLine>

export const ResultLine = z.object({
  type: z.literal('result'),
  execution_id: id,
  result_id: id,
  name: z.string().min(1),
  scope: z.enum(['step', 'execution', 'workflow', 'permanent']),
  source_step: text,
  media_type: z.string(),
  logical_uri: text,
  bytes: z.number().int().min(0),
  sha256: z.string(),
  created_at: instant,
  data: json,
})
export type ResultLine = z.infer<typeof ResultLine>

export const EndLine = z.object({
  type: z.literal('end'),
  /** Before this one. */
  lines: z.number().int().positive(),
  /** Lines in which a value is replaced. */
  hidden: z.number().int().min(0),
  sha256: z.string(),
})
export type EndLine = z.infer<typeof EndLine>

export type TransferLine = HeaderLine | DefinitionLine | ExecutionLine | EventLine | ResultLine | EndLine
