/**
 * Loops of our own engine, whose events name none: a loop is a run of its step, and its commands say that they are
 * iterations.
 *
 * 1. A loop has the id of the event that began the run: where its step was entered, or kept by a rerun.
 * 2. A command belongs to the loop that issued it, whatever its later events say.
 * 3. A loop is completed when its step was left without a failure. A retry goes on with the same loop, and what it runs
 *    again counts again.
 * 4. Events that were imported one by one speak for themselves: nothing is concluded about their loops.
 */
import { foldLoop } from './fold-command-loop.ts'
import type { FoldState } from './fold-state.ts'
import type { ReplayEvent } from './replay-event.ts'
import { integerAt, textAt } from './replay-event.ts'

/** Folds an event that names no loop; its command is folded already. */
export const foldOwnLoop = (state: FoldState, event: ReplayEvent, commandId: string | null): void => {
  const { eventId, eventType, nodeName, meta } = event
  if (meta['imported'] === true) return
  switch (eventType) {
    case 'step.enter':
    case 'step.kept':
      if (nodeName !== null && isOurs(event)) state.runs.set(nodeName, eventId)
      break
    case 'step.exit':
      if (nodeName !== null && isOurs(event)) leave(state, event, nodeName)
      break
    case 'command.issued':
      if (commandId !== null && isOurs(event)) issue(state, event, commandId)
      break
    default: {
      const loopId = commandId === null ? null : (state.commands.get(commandId)?.loop ?? null)
      if (loopId !== null && eventType.startsWith('command.')) foldLoop(state, event, loopId, commandId)
    }
  }
}

const isOurs = ({ meta }: ReplayEvent): boolean => meta['emitted_by'] === 'orchestrator'

const issue = (state: FoldState, event: ReplayEvent, commandId: string): void => {
  const { meta, eventId } = event
  const step = textAt(meta, 'iterator_step')
  const command = state.commands.get(commandId)
  if (step === null || !command || integerAt(meta, 'iteration_index') === null) return
  const loopId = state.runs.get(step) ?? eventId
  command.loop = loopId
  // How many rows a cursor will bring, nobody knows; what it tells is about one frame.
  const total = meta['cursor'] === undefined ? integerAt(meta, 'iteration_total') : null
  foldLoop(state, event, loopId, commandId, total).completed = false
}

const leave = (state: FoldState, { eventId, status }: ReplayEvent, step: string): void => {
  const loop = state.loops.get(state.runs.get(step) ?? '')
  if (!loop) return
  loop.last_event_id = eventId
  loop.completed = status === 'COMPLETED'
}
