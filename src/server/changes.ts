/**
 * Who watches executions is told here when one changed: by a commit of this server at once, by those of others when the
 * dispatcher hears of them.
 *
 * 1. However many watch, a commit costs one look into a table, plus those who watch this very execution or all of them.
 * 2. Null says that anything may have changed: look.
 */
import type { Core } from './core.ts'

/** Called with the position of the first new event; null when it may or may not have changed. */
export type ExecutionListener = (position: number | null) => void
/** Called for every execution; null when any of them may have changed. */
export type AnyListener = (executionId: string | null, position: number) => void

export interface Changes {
  watch(executionId: string, listener: ExecutionListener): () => void
  watchAll(listener: AnyListener): () => void
  /** An execution changed otherwise than by a commit. */
  tell(executionId: string, position: number): void
  /** True while everything is told; false: others may change executions unheard, so look now and then. */
  hearsOthers(): boolean
  /** How many watch now. */
  watching(): number
}

const known = new WeakMap<Core, Changes>()

/** The changes of a core; everybody who asks gets the same. */
export const changesOf = (core: Core): Changes => {
  let changes = known.get(core)
  if (!changes) known.set(core, (changes = createChanges(core)))
  return changes
}

const createChanges = (core: Core): Changes => {
  const byExecution = new Map<string, Set<ExecutionListener>>()
  const all = new Set<AnyListener>()

  const tell = (executionId: string, position: number): void => {
    for (const listener of byExecution.get(executionId) ?? []) listener(position)
    for (const listener of all) listener(executionId, position)
  }

  core.onCommit((state, events) => tell(state.executionId, events[0]?.position ?? state.position))
  core.dispatcher.onChange((changes) => {
    if (changes) {
      for (const [executionId, position] of changes) tell(executionId, position)
      return
    }
    for (const listeners of byExecution.values()) for (const listener of listeners) listener(null)
    for (const listener of all) listener(null, 0)
  })

  return {
    watch: (executionId, listener) => {
      const listeners = byExecution.get(executionId) ?? new Set()
      byExecution.set(executionId, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && byExecution.get(executionId) === listeners)
          byExecution.delete(executionId)
      }
    },
    watchAll: (listener) => {
      all.add(listener)
      return () => void all.delete(listener)
    },
    tell,
    hearsOthers: () => core.dispatcher.hearsOthers(),
    watching: () => [...byExecution.values()].reduce((sum, { size }) => sum + size, all.size),
  }
}
