/** What the doctor found, as it adds up over executions. */
import type { Json } from '../../contract/json.ts'
import type { Core } from '../core.ts'

export interface Finding {
  readonly execution_id: string
  readonly kind: 'row' | 'commands' | 'snapshot' | 'log' | 'no_cause' | 'timer' | 'result'
  readonly message: string
  readonly stored: Json
  readonly folded: Json
}

export interface Examination {
  readonly checked: number
  readonly events: number
  readonly snapshots: number
  readonly timers: number
  readonly results: number
  /** Timers that have nothing left to tell; each goes away at its hour. */
  readonly idle_timers: number
  /** Results that no event refers to: nothing is wrong with them but the room they take. */
  readonly unreferenced_results: number
  readonly unreferenced_bytes: number
  readonly differences: readonly Finding[]
}

export type Doctor = Pick<Core, 'shards' | 'sealer'>

export const NOTHING: Examination = {
  checked: 0,
  events: 0,
  snapshots: 0,
  timers: 0,
  results: 0,
  idle_timers: 0,
  unreferenced_results: 0,
  unreferenced_bytes: 0,
  differences: [],
}

export const added = (a: Examination, b: Partial<Examination>): Examination => ({
  checked: a.checked + (b.checked ?? 0),
  events: a.events + (b.events ?? 0),
  snapshots: a.snapshots + (b.snapshots ?? 0),
  timers: a.timers + (b.timers ?? 0),
  results: a.results + (b.results ?? 0),
  idle_timers: a.idle_timers + (b.idle_timers ?? 0),
  unreferenced_results: a.unreferenced_results + (b.unreferenced_results ?? 0),
  unreferenced_bytes: a.unreferenced_bytes + (b.unreferenced_bytes ?? 0),
  differences: [...a.differences, ...(b.differences ?? [])],
})
