/**
 * Executions as they happen, over server-sent events. Changes are pushed, those of other servers too when the servers hear
 * each other; else they are found by looking now and then. Secrets are never shown.
 */
import type { FastifyInstance } from 'fastify'
import { StreamHeaders } from '../../contract/api-headers.ts'
import { AllStreamQuery } from '../../contract/api-streams.ts'
import { ProblemError } from '../../contract/problem.ts'
import { readExecution } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'
import { parseCursor } from '../streams/cursor.ts'
import { followAll } from '../streams/follow-all.ts'
import { followExecution } from '../streams/follow-execution.ts'
import { serveStream, STREAM_TYPE } from '../streams/serve-stream.ts'

const tag = 'executions'
const answerType = STREAM_TYPE

export const streamRoutes = (app: FastifyInstance, { core, closing }: ServerContext): void => {
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/stream',
      name: 'streamExecution',
      tag,
      access: 'viewer',
      summary: 'Follow an execution to its end',
      description:
        'Server-sent events: one per event of the log, named by its type, with its position as id; `end` with status and error at last. `Last-Event-ID` goes on from there.',
      headers: StreamHeaders,
      answerType,
      problems: ['not_found'],
    },
    async ({ request, reply, headers }) => {
      const id = pathId(request, 'execution_id')
      if (!(await readExecution(core.shards.of(id), id)))
        throw new ProblemError('not_found', `Execution not found: ${id}`)
      const from = lastPosition(headers['Last-Event-ID'])
      return serveStream(reply, { closing, log: core.log, facts: { execution_id: id } }, (open) =>
        followExecution(core, id, from, open()),
      )
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/stream',
      name: 'streamExecutions',
      tag,
      access: 'viewer',
      summary: 'Follow all executions',
      description:
        'Server-sent events: `status` with an execution whose status changed and, with `events=true`, `event` for every event. Begins with what happens from now on, or with what happened after `Last-Event-ID`. After an interruption a change may be told twice.',
      query: AllStreamQuery,
      headers: StreamHeaders,
      answerType,
    },
    async ({ reply, headers, query: { events, path, status } }) => {
      const filter = {
        events,
        path: path?.toLowerCase() ?? null,
        statuses: status === null ? null : new Set(status),
      }
      const resume = parseCursor(headers['Last-Event-ID'])
      return serveStream(reply, { closing, log: core.log }, (open) => followAll(core, filter, resume, open))
    },
  )
}

/** A client that sends nothing useful hears everything. */
const lastPosition = (text: string | undefined): number =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : 0
