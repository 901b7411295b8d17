/** What came of an execution: its final result, or the data of one of its steps. */
import type { ExecutionStatus } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { finalResult } from '../engine/finish.ts'
import { referenceOf } from '../engine/reference.ts'
import { plainOf } from '../engine/scope.ts'
import { stepView } from '../engine/view.ts'
import { createBell } from '../lib/bell.ts'
import { readExecution } from '../store/executions.ts'
import { changesOf } from './changes.ts'
import type { Core } from './core.ts'
import { loadState } from './state-loader.ts'
import { KEEP_ALIVE_MS } from './streams/event-stream.ts'
import { LOOK_MS } from './streams/follow-execution.ts'

export interface Outcome {
  readonly status: ExecutionStatus
  readonly path: string
  readonly data: Json
  readonly error: string | null
}

/** Null when there is no such execution. A step that never ran gives the final result. */
export const outcomeOf = async (
  core: Core,
  executionId: string,
  stepName: string | null,
): Promise<Outcome | null> => {
  const loaded = await loadState(core.shards.of(executionId), executionId, core.sealer)
  if (!loaded?.state.status) return null
  const { state } = loaded
  const { graph } = await core.playbooks.byId(state.catalogId)
  const named = stepName === null ? undefined : state.steps.get(stepName)
  // A step that was skipped is known, too, but has nothing to give.
  const step = named?.data === undefined ? undefined : named
  const isPipeline = stepName !== null && step !== undefined && graph.step(stepName).body.kind === 'pipeline'
  const kept = step
    ? referenceOf(step.data) === null
      ? plainOf(stepView(step, isPipeline, () => undefined))
      : step.data
    : finalResult(graph, state)
  const ref = referenceOf(kept)
  const data = ref === null ? (kept ?? null) : await core.largeResults.fetch(ref)
  return { status: loaded.state.status, path: state.path, data, error: state.error }
}

/** Resolves when the execution has ended, or does not exist, or the time is over, or nobody waits any more. */
export const untilEnded = async (
  core: Core,
  executionId: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const deadline = performance.now() + waitMs
  const changes = changesOf(core)
  const bell = createBell()
  const unwatch = changes.watch(executionId, bell.ring)
  signal.addEventListener('abort', bell.ring)
  try {
    for (;;) {
      const left = Math.max(0, deadline - performance.now())
      // Listen before looking: what happens in between must not be missed.
      const rung = bell.next(Math.min(left, changes.hearsOthers() ? KEEP_ALIVE_MS : LOOK_MS))
      const row = await readExecution(core.shards.of(executionId), executionId)
      if (row?.status !== 'RUNNING' || left === 0 || signal.aborted) return
      await rung
    }
  } finally {
    unwatch()
    signal.removeEventListener('abort', bell.ring)
    bell.ring()
  }
}
