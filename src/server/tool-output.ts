/** Takes what running tools print, and tells those who watch that there is something new. */
import { EventEmitter } from 'node:events'
import type { CommandOutput } from '../contract/output.ts'
import { scrubText } from '../contract/sensitive.ts'
import { plainText } from '../store/columns.ts'
import type { OutputToStore } from '../store/tool-output.ts'
import { storeOutput } from '../store/tool-output.ts'
import type { Core } from './core.ts'

/** Rings with the id of an execution whose tools printed something here. */
const bells = new WeakMap<Core, EventEmitter>()

const bellOf = (core: Core): EventEmitter => {
  let bell = bells.get(core)
  if (!bell) {
    bell = new EventEmitter()
    bell.setMaxListeners(0)
    bells.set(core, bell)
  }
  return bell
}

/** Answers the number of pieces that were kept. */
export const keepOutput = async (
  core: Core,
  workerId: string,
  outputs: readonly CommandOutput[],
): Promise<number> => {
  const byShard = Map.groupBy(outputs, ({ executionId }) => core.shards.of(executionId))
  const counts = await Promise.all(
    [...byShard].map(([database, own]) => storeOutput(database, workerId, own.flatMap(toStore))),
  )
  const bell = bellOf(core)
  for (const id of new Set(outputs.map(({ executionId }) => executionId))) bell.emit(id)
  return counts.reduce((sum, count) => sum + count, 0)
}

const toStore = ({ eventId, leaseToken, parts }: CommandOutput): readonly OutputToStore[] =>
  parts.map((part) => ({ ...part, eventId, leaseToken, text: plainText(scrubText(part.text)) }))

/** Calls back when tools of the execution print through this server; answers how to stop that. */
export const onOutput = (core: Core, executionId: string, listener: () => void): (() => void) => {
  const bell = bellOf(core)
  bell.on(executionId, listener)
  return () => void bell.off(executionId, listener)
}

/** How many are called back now. */
export const outputListeners = (core: Core): number => {
  const bell = bellOf(core)
  return bell.eventNames().reduce((sum, name) => sum + bell.listenerCount(name), 0)
}
