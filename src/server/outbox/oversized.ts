/**
 * A message that is too large for its carrier goes out without its data, and says so: who hears of the event can fetch
 * it by its execution and position.
 */
import type { Json, JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { parseJson, rawInteger } from '../../lib/exact-json.ts'

const IDS = ['event_id', 'execution_id', 'catalog_id', 'parent_event_id']

export const fitPayload = (payload: string, maxBytes: number): string => {
  const bytes = Buffer.byteLength(payload)
  if (bytes <= maxBytes) return payload
  const value = parseJson(payload) as Json
  if (!isObject(value)) return payload
  const { result, meta } = value
  const kept: JsonObject =
    isObject(meta) && typeof meta['command_id'] === 'string' ? { command_id: meta['command_id'] } : {}
  const slim: Record<string, unknown> = {
    ...value,
    context: null,
    result: isObject(result) && typeof result['status'] === 'string' ? { status: result['status'] } : null,
    error: null,
    meta: { ...kept, truncated: true, bytes },
  }
  // Reading has made texts of them.
  for (const key of IDS) if (typeof slim[key] === 'string') slim[key] = rawInteger(slim[key])
  return JSON.stringify(slim)
}
