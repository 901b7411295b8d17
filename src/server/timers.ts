/**
 * Delivers timers: to the execution that set one, or to the parent of an execution that ended. A timer is deleted only
 * after what it says is on disk, so a server that dies in between makes it come again; nothing minds being told twice.
 */
import { childData } from '../contract/child-data.ts'
import { isObject } from '../contract/json.ts'
import type { ChildInput } from '../engine/input.ts'
import { ResultMissing } from '../engine/reference.ts'
import { readCommand } from '../store/commands.ts'
import { readExecution } from '../store/executions.ts'
import type { Database } from '../store/database.ts'
import { onEvery } from '../store/shards.ts'
import type { TimerRow } from '../store/timers.ts'
import { deleteTimers, takeDueTimers } from '../store/timers.ts'
import { TIMER_POOL } from './build-append.ts'
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
  const deliver = async (database: Database, timer: TimerRow): Promise<void> => {
    const commandId = textOf(timer, 'command_id')
    if (timer.kind === 'command_timeout') {
      await core.tell(timer.execution_id, {
        type: 'timeout',
        commandId,
        timeoutMs: Number(timer.payload['timeout_ms']),
      })
    }
    if (timer.kind === 'child_ended') {
      const parentId = textOf(timer, 'parent_execution_id')
      const input = await childInput(core, timer.execution_id, parentId, commandId)
      if (input) await core.tell(parentId, input)
    }
    await deleteTimers(database, [timer.timer_id])
  }

  /** A timer that cannot be delivered now comes again; it keeps no other from being delivered. */
  const tryDeliver = async (database: Database, timer: TimerRow): Promise<boolean> => {
    try {
      await deliver(database, timer)
      return true
    } catch (error) {
      const { timer_id, execution_id, kind } = timer
      core.log.error({ timer_id, execution_id, kind, error }, 'timer not delivered; it will come again')
      return false
    }
  }

  const runOnce = (): Promise<number> =>
    onEvery(core.shards, async (database) => {
      const due = await takeDueTimers(database, { max: BATCH, holdSeconds: HOLD_SECONDS })
      const done = await Promise.all(due.map((timer) => tryDeliver(database, timer)))
      return done.filter(Boolean).length
    })

  return { runOnce, ...createWaitingService(core, runOnce) }
}

const textOf = ({ payload }: TimerRow, key: string): string =>
  typeof payload[key] === 'string' ? payload[key] : ''

/** Runs when a timer was set in this process, and now and then for those of other processes. */
const createWaitingService = (core: Core, runOnce: () => Promise<number>): Service => {
  const stopping = new AbortController()
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
