/** Limits of time as playbooks write them: seconds as a number or text, or text with a unit (`30s`, `5m`). */
import type { Json, JsonObject } from '../contract/json.ts'
import { configFailure } from './tool-failure.ts'

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*$/
/** The longest wait a timer can take; a longer limit is no limit in practice. */
const MOST_MS = 2_147_483_647

/** Milliseconds, or null when there is no limit (`null`, empty text, zero). */
export const durationMs = (value: Json | undefined, field: string): number | null => {
  if (value === undefined || value === null || value === '') return null
  const match = typeof value === 'string' || typeof value === 'number' ? DURATION.exec(String(value)) : null
  if (match === null) {
    throw configFailure(
      `${field} must be a number of seconds or a text such as "30s", not ${JSON.stringify(value)}`,
    )
  }
  const milliseconds = Number(match[1]) * (UNIT_MS[match[2] ?? 's'] ?? 1000)
  return milliseconds === 0 ? null : Math.min(MOST_MS, Math.ceil(milliseconds))
}

/** The tightest of the tool's own limit and the limit that the control plane set for the command. */
export const timeLimitMs = (config: JsonObject, meta: JsonObject): number | null => {
  const ofTool =
    durationMs(config['timeout_seconds'], 'timeout_seconds') ?? durationMs(config['timeout'], 'timeout')
  const ofCommand =
    typeof meta['timeout_ms'] === 'number' && meta['timeout_ms'] > 0 ? meta['timeout_ms'] : null
  if (ofTool === null) return ofCommand
  return ofCommand === null ? ofTool : Math.min(ofTool, ofCommand)
}
