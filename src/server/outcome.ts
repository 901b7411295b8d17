/** What came of an execution: its final result, or the data of one of its steps. */
import type { ExecutionStatus } from '../contract/event.ts'
import type { Json } from '../contract/json.ts'
import { finalResult } from '../engine/finish.ts'
import { referenceOf } from '../engine/reference.ts'
import { plainOf } from '../engine/scope.ts'
import { stepView } from '../engine/view.ts'
import { readExecution } from '../store/executions.ts'
import type { Core } from './core.ts'
import { loadState } from './state-loader.ts'

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

const LOOK_MS = 1000

/** Resolves when the execution has ended or the time is over. */
export const untilEnded = async (
  core: Core,
  executionId: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const deadline = performance.now() + waitMs
  let wake: () => void = () => undefined
  const unsubscribe = core.onCommit((state) => {
    if (state.executionId === executionId && state.status !== 'RUNNING') wake()
  })
  const stop = (): void => wake()
  signal.addEventListener('abort', stop)
  try {
    for (;;) {
      const left = deadline - performance.now()
      const woken = new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, Math.min(LOOK_MS, left)))
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      const row = await readExecution(core.shards.of(executionId), executionId)
      if (!row || row.status !== 'RUNNING' || left <= 0 || signal.aborted) return wake()
      await woken
    }
  } finally {
    unsubscribe()
    signal.removeEventListener('abort', stop)
  }
}
