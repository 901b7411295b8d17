/**
 * Delivers timers: to the execution that set one, to the parent of an execution that ended, or to whatever is below one
 * that was cancelled.
 *
 * 1. A timer is deleted only after what it says is on disk, so a server that dies in between makes it come again; nothing
 *    minds being told twice.
 * 2. A kind that this server does not know is left to one that does.
 */
import { childData } from '../contract/child-data.ts'
import { isObject } from '../contract/json.ts'
import type { ChildInput } from '../engine/input.ts'
import { ResultMissing } from '../engine/reference.ts'
import type { TimerKind } from '../engine/session.ts'
import { readCommand } from '../store/commands.ts'
import { readExecution } from '../store/executions.ts'
import type { Database } from '../store/database.ts'
import { onEvery } from '../store/shards.ts'
import type { TimerRow } from '../store/timers.ts'
import { deleteTimers, takeDueTimers } from '../store/timers.ts'
import { TIMER_POOL } from './build-append.ts'
import { followParent } from './cancel.ts'
import { finishCascade } from './cascade.ts'
import type { Core } from './core.ts'
import { readIssued } from './leased-command.ts'
import { outcomeOf } from './outcome.ts'
import type { Service } from './service.ts'

const BATCH = 100
const HOLD_SECONDS = 30
const POLL_MS = 1000

export interface Timers extends Service {
  /** Delivers what is due; answers how many. */
  runOnce(): Promise<number>
}

export const createTimers = (core: Core): Timers => {
  const stopping = new AbortController()
  /** A cascade may take minutes; nobody else waits for it. */
  const cascades = new Set<Promise<boolean>>()

  /** A timer that cannot be delivered now comes again; it keeps no other from being delivered. */
  const tryDeliver = async (database: Database, timer: TimerRow): Promise<boolean> => {
    try {
      const isDone = await deliver(core, timer, stopping.signal)
      if (isDone) await deleteTimers(database, [timer.timer_id])
      return isDone
    } catch (error) {
      const { timer_id, execution_id, kind } = timer
      core.log.error({ timer_id, execution_id, kind, error }, 'timer not delivered; it will come again')
      return false
    }
  }

  const begin = (database: Database, timer: TimerRow): Promise<boolean> => {
    const delivery = tryDeliver(database, timer)
    if (timer.kind !== 'cancel_children') return delivery
    cascades.add(delivery)
    void delivery.finally(() => cascades.delete(delivery))
    return delivery
  }

  /** Answers how many were delivered of those that were waited for. */
  const deliverDue = (waitsForCascades: boolean): Promise<number> =>
    onEvery(core.shards, async (database) => {
      const due = await takeDueTimers(database, { max: BATCH, holdSeconds: HOLD_SECONDS })
      const deliveries = due.map((timer) => begin(database, timer))
      const done = await Promise.all(
        deliveries.filter((delivery) => waitsForCascades || !cascades.has(delivery)),
      )
      return done.filter(Boolean).length
    })

  const service = createWaitingService(core, stopping, () => deliverDue(false))
  return {
    runOnce: () => deliverDue(true),
    start: service.start,
    stop: async () => {
      await service.stop()
      await Promise.all(cascades)
    },
  }
}

/** False when it is not over: the timer comes again. */
const deliver = async (core: Core, timer: TimerRow, signal: AbortSignal): Promise<boolean> => {
  const { execution_id: executionId, kind } = timer
  const commandId = textOf(timer, 'command_id')
  const parentId = textOf(timer, 'parent_execution_id')
  switch (kind as TimerKind) {
    case 'command_timeout': {
      const timeoutMs = Number(timer.payload['timeout_ms'])
      await core.tell(executionId, { type: 'timeout', commandId, timeoutMs })
      return true
    }
    case 'child_ended': {
      const input = await childInput(core, executionId, parentId, commandId)
      if (input) await core.tell(parentId, input)
      return true
    }
    case 'cancel_children':
      return finishCascade(core, executionId, textOf(timer, 'event_id'), signal)
    case 'follow_parent':
      await followParent(core, executionId, parentId)
      return true
    default:
      throw new Error(`this server knows no timer of kind ${kind}`)
  }
}

const textOf = ({ payload }: TimerRow, key: string): string =>
  typeof payload[key] === 'string' ? payload[key] : ''

/** Runs when a timer was set in this process, and now and then for those of other processes. */
const createWaitingService = (
  core: Core,
  stopping: AbortController,
  runOnce: () => Promise<number>,
): Service => {
  let running: Promise<void> = Promise.resolve()
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const woken = core.dispatcher.wait(TIMER_POOL, POLL_MS, stopping.signal)
      const delivered = await runOnce().catch((error: unknown) => {
        core.log.error({ service: 'timers', error }, 'background service failed; it will try again')
        return 0
      })
      if (delivered < BATCH) await woken
    }
  }
  return {
    start: () => {
      running = loop()
    },
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/** What the parent is told of its child; null when the child cannot be found. */
const childInput = async (
  core: Core,
  childId: string,
  parentId: string,
  commandId: string,
): Promise<ChildInput | null> => {
  try {
    const outcome = await outcomeOf(core, childId, await wantedStep(core, parentId, commandId))
    if (!outcome) return null
    const whole = childData({ ...outcome, executionId: childId })
    // Iterations keep their data in the list of results; elsewhere large data is stored apart, as the parent's own.
    const data = isIteration(commandId)
      ? whole
      : await core.largeResults.keep(parentId, stepIn(commandId), whole)
    return { type: 'child', commandId, childId, ...outcome, data }
  } catch (error) {
    if (!(error instanceof ResultMissing)) throw error
    const row = await readExecution(core.shards.of(childId), childId)
    const path = row?.path ?? ''
    return { type: 'child', commandId, childId, path, status: 'FAILED', data: null, error: error.message }
  }
}

const stepIn = (commandId: string): string => commandId.split(':')[1] ?? 'child'

const isIteration = (commandId: string): boolean => /:i\d+$/.test(commandId)

/** The child's step whose data the parent asked for. */
const wantedStep = async (core: Core, parentId: string, commandId: string): Promise<string | null> => {
  const eventId = commandId
    .split(':')
    .find((part, index, parts) => index === parts.length - (parts.at(-1)?.startsWith('i') ? 2 : 1))
  const database = core.shards.of(parentId)
  const row = eventId === undefined ? null : await readCommand(database, eventId)
  const issued = row && (await readIssued(core, database, row))
  const config = isObject(issued?.context) ? issued.context['tool_config'] : null
  if (!isObject(config)) return null
  const step = config['return_step'] ?? config['result_step']
  return typeof step === 'string' ? step : null
}
