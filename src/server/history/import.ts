/**
 * Executions from a file, to be looked at and replayed here.
 *
 * 1. Everything of a file or nothing: a damaged one leaves no trace.
 * 2. An execution that is here already is compared with the file; another log under its id is a conflict.
 * 3. The row of an execution is what its log says, not what the file says about it.
 * 4. Imported executions are only shown. Resumed is a fork of one, as an execution of its own, and only from a file in
 *    which nothing was replaced.
 */
import type { EventRecord } from '../../contract/event.ts'
import { ProblemError } from '../../contract/problem.ts'
import type { EventLine, ExecutionLine, TransferLine } from '../../contract/transfer.ts'
import { RerunRequest } from '../../contract/api-history.ts'
import { compareFacts, factsOf } from '../../engine/audit.ts'
import { evolve } from '../../engine/evolve.ts'
import type { State } from '../../engine/state.ts'
import { createState } from '../../engine/state.ts'
import { exactJson } from '../../lib/exact-json.ts'
import type { ImportTransaction } from '../../store/transfer.ts'
import { beginImport } from '../../store/transfer.ts'
import type { Core } from '../core.ts'
import { check } from '../http.ts'
import { damaged, readTransfer } from './read-transfer.ts'
import { rerun } from './rerun.ts'

export interface Imported {
  readonly status: 'imported' | 'exists'
  readonly executionId: string
  readonly executions: readonly string[]
  readonly events: number
  readonly results: number
  readonly resumedAs: string | null
}

const EVENTS_AT_ONCE = 500

export const importExecutions = async (
  core: Core,
  chunks: AsyncIterable<Buffer | string>,
  { resume }: { readonly resume: boolean },
): Promise<Imported> => {
  const transaction = beginImport(core.shards, core.sealer)
  const importer = createImporter(core, transaction, resume)
  try {
    for await (const line of readTransfer(chunks)) await importer.take(line)
    const imported = importer.result()
    await transaction.commit()
    return resume
      ? { ...imported, resumedAs: await resumed(core, imported.executionId, importer.root()) }
      : imported
  } finally {
    await transaction.rollback()
  }
}

const resumed = async (
  core: Core,
  executionId: string,
  { status, events }: ExecutionLine,
): Promise<string> => {
  const from = status === 'RUNNING' ? { position: events } : 'failed'
  return (await rerun(core, executionId, check(RerunRequest, { from }))).executionId
}

interface Current {
  readonly line: ExecutionLine
  readonly isNew: boolean
  readonly state: State
  /** Its log is one of this engine. */
  isOurs: boolean
  position: number
  waiting: EventRecord[]
}

const createImporter = (core: Core, transaction: ImportTransaction, resume: boolean) => {
  const executions: ExecutionLine[] = []
  let rootId = ''
  let current: Current | null = null
  let isAnyNew = false
  let counts = { events: 0, results: 0 }

  const flush = async (): Promise<void> => {
    if (!current || current.waiting.length === 0) return
    const events = current.waiting
    current.waiting = []
    if (current.isNew) return transaction.events(events)
    if (!(await transaction.hasEvents(events))) throw otherLog(current.line.execution_id)
  }

  const close = async (): Promise<void> => {
    if (!current) return
    await flush()
    const { line, position, state, isNew, isOurs } = current
    if (position !== line.events)
      throw damaged(`execution ${line.execution_id} should have ${line.events} events and has ${position}`)
    if (!isNew || !isOurs) return
    checkRow(line, state)
    await transaction.facts(line.execution_id, factsOf(state))
  }

  const takeEvent = async (line: EventLine): Promise<void> => {
    if (line.execution_id !== current?.line.execution_id)
      throw damaged(`event ${line.event_id} stands outside of its execution`)
    if (line.position !== current.position + 1)
      throw damaged(
        `execution ${line.execution_id} goes from position ${current.position} to ${line.position}`,
      )
    current.position = line.position
    counts = { ...counts, events: counts.events + 1 }
    const event = eventOf(line)
    if (line.position === 1) current.isOurs = event.meta['imported'] !== true
    if (current.isOurs) evolve(current.state, event)
    current.waiting.push(event)
    if (current.waiting.length >= EVENTS_AT_ONCE) await flush()
  }

  const take = async (line: TransferLine): Promise<void> => {
    switch (line.type) {
      case 'header':
        rootId = line.execution_id
        return undefined
      case 'definition':
        return transaction.definition(line)
      case 'execution': {
        await close()
        const isNew = await transaction.execution(line)
        isAnyNew ||= isNew
        executions.push(line)
        current = {
          line,
          isNew,
          state: createState(line.execution_id),
          isOurs: true,
          position: 0,
          waiting: [],
        }
        return undefined
      }
      case 'event':
        return takeEvent(line)
      case 'result':
        if (line.execution_id !== current?.line.execution_id)
          throw damaged(`result ${line.result_id} stands outside of its execution`)
        counts = { ...counts, results: counts.results + 1 }
        if (!current.isNew) return undefined
        return transaction.result(line, core.sealer.seal(exactJson(line.data)))
      case 'end':
        await close()
        if (resume) checkResumable(root(), line.hidden)
        return undefined
      default:
        return undefined
    }
  }

  const root = (): ExecutionLine => {
    const found = executions.find(({ execution_id }) => execution_id === rootId)
    if (!found) throw damaged(`it does not have the execution ${rootId} that its header names`)
    return found
  }

  const result = (): Imported => ({
    status: isAnyNew ? 'imported' : 'exists',
    executionId: root().execution_id,
    executions: executions.map(({ execution_id }) => execution_id),
    ...counts,
    resumedAs: null,
  })

  return { take, root, result }
}

const otherLog = (executionId: string): ProblemError =>
  new ProblemError('conflict', `Execution ${executionId} is here already, with another log`)

const checkRow = (line: ExecutionLine, state: State): void => {
  const told = { ...factsOf(state), ...line, version: line.events }
  const [difference] = compareFacts(told, state)
  if (difference) throw damaged(`execution ${line.execution_id}: ${difference.message}`)
}

const checkResumable = ({ execution_id: id, status }: ExecutionLine, hidden: number): void => {
  if (status === 'COMPLETED')
    throw new ProblemError(
      'conflict',
      `Execution ${id} is COMPLETED; there is nothing to resume. Import it without resume`,
    )
  if (hidden > 0)
    throw new ProblemError(
      'invalid',
      `The file was exported without secrets and ${hidden} of its lines miss values; export it with include_secrets to resume it`,
    )
}

const eventOf = (line: EventLine): EventRecord => ({
  executionId: line.execution_id,
  position: line.position,
  eventId: line.event_id,
  createdAt: line.created_at,
  eventType: line.event_type,
  nodeName: line.node_name,
  nodeType: line.node_type,
  status: line.status,
  parentEventId: line.parent_event_id,
  workerId: line.worker_id,
  durationMs: line.duration_ms,
  context: line.context,
  result: line.result as EventRecord['result'],
  meta: line.meta,
  error: line.error,
})
