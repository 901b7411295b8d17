/** The output of tools: workers bring it while they run, people read and follow it. */
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { StreamHeaders } from '../../contract/api-headers.ts'
import {
  isOutputCursor,
  LogsAnswer,
  LogsQuery,
  LogsStreamQuery,
  OutputAnswer,
  OutputRequest,
} from '../../contract/api-output.ts'
import { ProblemError } from '../../contract/problem.ts'
import { readExecution } from '../../store/executions.ts'
import type { OutputFilter } from '../../store/tool-output.ts'
import { readOutput } from '../../store/tool-output.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'
import { followLogs, logEntry } from '../streams/follow-logs.ts'
import { serveStream, STREAM_TYPE } from '../streams/serve-stream.ts'
import { keepOutput } from '../tool-output.ts'

const tag = 'logs'

const filterOf = (query: z.output<typeof LogsStreamQuery>): Omit<OutputFilter, 'after' | 'limit'> => ({
  step: query.step,
  commandId: query.command_id,
  attempt: query.attempt ?? null,
  stream: query.stream ?? null,
})

export const logRoutes = (app: FastifyInstance, { core, closing }: ServerContext): void => {
  const existing = async (id: string): Promise<string> => {
    if (await readExecution(core.shards.of(id), id)) return id
    throw new ProblemError('not_found', `Execution not found: ${id}`)
  }

  route(
    app,
    {
      method: 'POST',
      url: '/api/commands/output',
      name: 'sendOutput',
      tag,
      access: 'worker',
      summary: 'Bring what running tools print',
      description:
        'Parts count from 1 within an attempt: what is sent twice is kept once. Pieces of a lease that was lost are dropped.',
      body: OutputRequest,
      answer: OutputAnswer,
    },
    async ({ body: { worker_id, outputs } }) => ({
      status: 'ok',
      stored: await keepOutput(
        core,
        worker_id,
        outputs.map(({ execution_id, event_id, lease_token, parts }) => ({
          executionId: execution_id,
          eventId: event_id,
          leaseToken: lease_token,
          parts,
        })),
      ),
    }),
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/logs',
      name: 'readLogs',
      tag,
      access: 'viewer',
      summary: 'What the tools of an execution printed',
      description: 'Page by page: `after` takes the `next_cursor` of the page before.',
      query: LogsQuery,
      answer: LogsAnswer,
      problems: ['not_found'],
    },
    async ({ request, query }) => {
      const id = await existing(pathId(request, 'execution_id'))
      const filter = { ...filterOf(query), after: query.after ?? null, limit: query.limit }
      const rows = await readOutput(core.shards.of(id), id, filter)
      return {
        execution_id: id,
        entries: rows.map(logEntry),
        next_cursor: rows.length < query.limit ? null : (rows.at(-1)?.cursor ?? null),
      }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/logs/stream',
      name: 'followLogs',
      tag,
      access: 'viewer',
      summary: 'Follow what the tools of an execution print',
      description:
        'Server-sent events: `output` for each piece, `end` with the status at last. `Last-Event-ID` goes on from there.',
      query: LogsStreamQuery,
      headers: StreamHeaders,
      answerType: STREAM_TYPE,
      problems: ['not_found'],
    },
    async ({ request, reply, headers, query }) => {
      const id = await existing(pathId(request, 'execution_id'))
      const last = headers['Last-Event-ID']
      const after = last !== undefined && isOutputCursor(last) ? last : null
      // What the store cannot look for is refused before the stream begins.
      await readOutput(core.shards.of(id), id, { ...filterOf(query), after, limit: 1 })
      return serveStream(reply, { closing, log: core.log, facts: { execution_id: id } }, (open) =>
        followLogs(core, id, filterOf(query), after, open()),
      )
    },
  )
}
