/** Executions and events in the words of the API. Every answer about them is built here, so that all of them agree. */
import type { EventRecord } from '../contract/event.ts'
import { rawInteger } from '../lib/exact-json.ts'
import type { ExecutionRow } from '../store/executions.ts'

export const executionItem = (row: ExecutionRow, now: number) => ({
  execution_id: rawInteger(row.execution_id),
  catalog_id: rawInteger(row.catalog_id),
  path: row.path,
  version: row.playbook_version,
  status: row.status,
  started_at: row.started_at,
  completed_at: row.finished_at,
  ...timesOf(row, now),
  progress: percentOf(row),
  event_count: row.version,
  parent_execution_id: row.parent_execution_id === null ? null : rawInteger(row.parent_execution_id),
  origin_execution_id: row.origin_execution_id === null ? null : rawInteger(row.origin_execution_id),
  origin_event: row.origin_event === null ? null : rawInteger(row.origin_event),
  current_step: row.current_step,
  error: row.error,
})

/** While it runs, the duration is the time since the start. */
export const timesOf = (row: Pick<ExecutionRow, 'started_at' | 'finished_at'>, now: number) => {
  const end = row.finished_at === null ? now : Date.parse(row.finished_at)
  const milliseconds = Math.max(0, end - Date.parse(row.started_at))
  return {
    start_time: row.started_at,
    end_time: row.finished_at,
    duration_seconds: milliseconds / 1000,
    duration_human: durationWords(milliseconds),
  }
}

/** What share of the steps entered so far has ended well. Only an execution that completed is at 100. */
export const percentOf = (row: Pick<ExecutionRow, 'status' | 'total_steps' | 'completed_steps'>): number => {
  if (row.status === 'COMPLETED') return 100
  if (row.total_steps === 0) return 0
  return Math.min(99, Math.floor((100 * row.completed_steps) / row.total_steps))
}

/** The two largest units: `850ms`, `12.3s`, `2m 5s`, `1h 4m`, `3d 2h`. */
export const durationWords = (milliseconds: number): string => {
  if (milliseconds < 1000) return `${Math.floor(milliseconds)}ms`
  const seconds = Math.floor(milliseconds / 1000)
  if (seconds < 60) return `${Math.floor(milliseconds / 100) / 10}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`
}

export const eventItem = (event: EventRecord) => ({
  event_id: rawInteger(event.eventId),
  position: event.position,
  event_type: event.eventType,
  node_name: event.nodeName,
  node_type: event.nodeType,
  status: event.status ?? 'UNKNOWN',
  created_at: event.createdAt,
  worker_id: event.workerId,
  duration_ms: event.durationMs,
  context: event.context,
  result: event.result,
  meta: event.meta,
  error: event.error,
})
