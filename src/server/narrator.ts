/** Tells the log of the server what becomes of executions: their start and end, and commands that fail. */
import type { EventRecord } from '../contract/event.ts'
import { canonicalEventType, EVENT, terminalStatusOf } from '../contract/event.ts'
import { redact } from '../contract/sensitive.ts'
import type { Core } from './core.ts'

export const startNarrator = (core: Core): (() => void) =>
  core.onCommit((state, events) => {
    for (const event of events) narrate(core, state.path, event)
  })

const narrate = ({ log }: Core, path: string, event: EventRecord): void => {
  const { executionId: execution_id, eventType, nodeName: step, meta, workerId: worker_id } = event
  const type = canonicalEventType(eventType)
  const status = terminalStatusOf(eventType)
  if (status === 'COMPLETED') log.info({ execution_id, path, status }, 'execution ended')
  else if (status) log.info({ execution_id, path, status, reason: redact(event.error) }, 'execution ended')
  else if (type === EVENT.started) log.info({ execution_id, path }, 'execution started')
  else if (type === EVENT.reopened) log.info({ execution_id, path }, 'execution goes on')
  else if (isFailure(type, event.status))
    log.info(
      { execution_id, command_id: meta['command_id'], step, worker_id, reason: redact(event.error) },
      'command failed',
    )
}

const isFailure = (type: string, status: string | null): boolean =>
  type === EVENT.commandFailed ||
  (type === EVENT.commandCompleted && /^(?:error|failed|timeout|cancelled)$/i.test(status ?? ''))
