/** Executions as files: out of this server, and into it. */
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ExportQuery, ImportAnswer, ImportQuery } from '../../contract/api-history.ts'
import { ProblemError } from '../../contract/problem.ts'
import { TRANSFER_TYPE } from '../../contract/transfer.ts'
import type { ServerContext } from '../app.ts'
import { demandRow } from '../history/cutoff.ts'
import { exportExecution } from '../history/export.ts'
import { importExecutions } from '../history/import.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'

const tag = 'history'
/** The file is never in memory as a whole; this only keeps out what nobody can mean. */
const LARGEST_FILE = 64 * 1024 * 1024 * 1024

export const transferRoutes = (app: FastifyInstance, { core }: ServerContext): void => {
  // A file is read as it arrives.
  app.addContentTypeParser(TRANSFER_TYPE, (_request, stream, done) => done(null, stream))

  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/export',
      name: 'exportExecution',
      tag,
      access: 'viewer',
      summary: 'An execution as one file: definition, events, results',
      description:
        'Lines of JSON, the last one with the SHA-256 of all others. Sensitive values are replaced unless an admin asks for them with `include_secrets`.',
      query: ExportQuery,
      answerType: TRANSFER_TYPE,
      problems: ['not_found', 'forbidden'],
    },
    async ({ request, reply, query: { with_children: withChildren, include_secrets: secrets } }) => {
      if (secrets && request.caller?.role !== 'admin')
        throw new ProblemError('forbidden', 'Only an admin may export secrets')
      const { execution_id: id } = await demandRow(core, pathId(request, 'execution_id'))
      void reply
        .type(TRANSFER_TYPE)
        .header('content-disposition', `attachment; filename="execution-${id}.ndjson"`)
      return reply.send(Readable.from(exportExecution(core, id, { withChildren, secrets })))
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/executions/import',
      name: 'importExecution',
      tag,
      access: 'operator',
      summary: 'Bring in executions from a file',
      description:
        'They can be looked at, replayed and rerun, and run no further themselves. With `resume` an execution of its own goes on from there.',
      query: ImportQuery,
      bodyType: TRANSFER_TYPE,
      bodyLimit: LARGEST_FILE,
      answer: ImportAnswer,
      problems: ['conflict'],
    },
    async ({ request, query: { resume } }) => {
      if (!(request.body instanceof Readable))
        throw new ProblemError('unsupported_media_type', `Send the file with content-type: ${TRANSFER_TYPE}`)
      const { executionId, resumedAs, ...rest } = await importExecutions(core, request.body, { resume })
      return { execution_id: executionId, resumed_as: resumedAs, ...rest }
    },
  )
}
