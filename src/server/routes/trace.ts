/** An execution as a trace, in the form that tracing tools import. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ProblemError } from '../../contract/problem.ts'
import type { Span } from '../../replay/spans.ts'
import { readExecution } from '../../store/executions.ts'
import type { ServerContext } from '../app.ts'
import { pathId } from '../http.ts'
import { route } from '../route.ts'
import { executionSpans } from '../traces/execution-spans.ts'
import { otlpTraces } from '../traces/otlp.ts'

const MOST_SPANS = 10_000

const TraceQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MOST_SPANS).default(MOST_SPANS),
})

const Attribute = z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) })
const TraceAnswer = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(Attribute) }),
      scopeSpans: z.array(
        z.object({
          scope: z.object({ name: z.string(), version: z.string() }),
          spans: z.array(z.looseObject({ traceId: z.string(), spanId: z.string(), name: z.string() })),
        }),
      ),
    }),
  ),
  truncated: z.boolean(),
})

export const traceRoutes = (app: FastifyInstance, { core, version }: ServerContext): void => {
  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/trace',
      name: 'getTrace',
      tag: 'executions',
      access: 'viewer',
      summary: 'The trace of an execution, as OpenTelemetry JSON',
      description:
        'A span for the execution, for each step run and for each command, made of the log. Spans that have not ended are shown as if they ended at the newest event.',
      query: TraceQuery,
      answer: TraceAnswer,
      problems: ['not_found'],
    },
    async ({ request, query: { limit } }) => {
      const id = pathId(request, 'execution_id')
      if (!(await readExecution(core.shards.of(id), id)))
        throw new ProblemError('not_found', `Execution not found: ${id}`)
      const spans: Span[] = []
      let truncated = false
      for await (const span of executionSpans(core.shards, id, { open: true })) {
        if (spans.length === limit) {
          truncated = true
          break
        }
        spans.push(span)
      }
      return { ...otlpTraces(spans, { 'service.name': 'noetl' }, version), truncated }
    },
  )
}
