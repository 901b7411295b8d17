/**
 * The mailboxes that are in memory, with the states they hold.
 *
 * 1. Bounded by their number and by what their states weigh, about; what was idle for longest goes first.
 * 2. A mailbox with work to do stays. One that went is made again when somebody asks, and loads its state.
 * 3. What is over need not be remembered: whoever asks again finds it in the store.
 */
import type { EventRecord } from '../contract/event.ts'
import type { State } from '../engine/state.ts'
import { isTerminal } from '../engine/state.ts'
import { createIdleCache } from '../lib/idle-cache.ts'
import type { Mailbox } from './mailbox.ts'
import type { StateWeight } from './state-weight.ts'
import { NEW_EXECUTION, weightAfter, weightOf } from './state-weight.ts'

export interface Mailboxes {
  /** The mailbox of an execution, for whoever delivers to it at once. */
  use(executionId: string, create: () => Mailbox): Mailbox
  /** To be told when a mailbox got its state from the store, */
  loaded(state: State): void
  /** after each commit, */
  committed(state: State, events: readonly EventRecord[]): void
  /** and when everything that was delivered is answered. */
  rested(executionId: string): void
  readonly size: number
  /** What all of them weigh, in bytes; one that is heavier than the bound does not count. */
  readonly weight: number
}

interface Kept {
  readonly mailbox: Mailbox
  weight: StateWeight
}

export const createMailboxes = (bounds: {
  readonly executions: number
  readonly bytes: number
}): Mailboxes => {
  const kept = createIdleCache<string, Kept>({ entries: bounds.executions, weight: bounds.bytes })

  const weigh = (executionId: string, entry: Kept, weight: StateWeight): void => {
    entry.weight = weight
    kept.weigh(executionId, weight.bytes)
  }

  return {
    use: (executionId, create) => {
      const known = kept.get(executionId)
      const entry = known ?? { mailbox: create(), weight: NEW_EXECUTION }
      kept.use(executionId, entry)
      if (!known) kept.weigh(executionId, entry.weight.bytes)
      return entry.mailbox
    },
    loaded: (state) => {
      const entry = kept.get(state.executionId)
      if (entry) weigh(state.executionId, entry, weightOf(state))
    },
    committed: (state, events) => {
      // It goes as soon as it rests (3).
      if (isTerminal(state)) return
      const entry = kept.get(state.executionId)
      if (entry) weigh(state.executionId, entry, weightAfter(entry.weight, state, events))
    },
    rested: (executionId) => {
      if (kept.get(executionId)?.mailbox.isFinished()) kept.delete(executionId)
      else kept.rest(executionId)
    },
    get size() {
      return kept.size
    },
    get weight() {
      return kept.weight
    },
  }
}
