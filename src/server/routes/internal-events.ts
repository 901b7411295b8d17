/** Events from elsewhere: stored, shown and replayed; nothing follows from them. */
import type { FastifyInstance } from 'fastify'
import {
  AdvanceAnswer,
  ImportedEventsAnswer,
  MaterializeAnswer,
  ProjectAnswer,
} from '../../contract/answers-internal.ts'
import { AdvanceRequest, MaterializeRequest, ProjectRequest } from '../../contract/api-internal.ts'
import { EventRequest } from '../../contract/api.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { toProblem } from '../../store/failure.ts'
import { readImportedEvents, refreshImported } from '../../store/imported-events.ts'
import type { ServerContext } from '../app.ts'
import type { Core } from '../core.ts'
import { eventItem } from '../execution-answers.ts'
import { check, pathId } from '../http.ts'
import { fromEnvelope, fromReport, importEvents } from '../import-events.ts'
import { standingOfImported } from '../imported-standing.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { route } from '../route.ts'
import { loadState, saveSnapshot } from '../state-loader.ts'

const tag = 'internal'
const access = 'internal'

/** Most events that others brought about one execution, as far as they are shown. */
const MAX_SHOWN = 2000

export const internalEventRoutes = (app: FastifyInstance, { core, metrics }: ServerContext): void => {
  importRoutes(app, core, metrics)

  route(
    app,
    {
      method: 'GET',
      url: '/api/executions/:execution_id/imported-events',
      name: 'listImportedEvents',
      tag: 'executions',
      access: 'viewer',
      summary: 'Events that others brought about an execution which runs here',
      description: 'They are not part of its log, and nothing follows from them.',
      answer: ImportedEventsAnswer,
      problems: ['bad_request'],
    },
    async ({ request }) => {
      const id = pathId(request, 'execution_id')
      const events = await readImportedEvents(core.shards.of(id), id, MAX_SHOWN)
      return { execution_id: rawInteger(id), events: events.map(eventItem) }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/projection/advance',
      name: 'advanceProjections',
      tag,
      access,
      summary: 'Fold executions anew and keep a snapshot of each',
      body: AdvanceRequest,
      answer: AdvanceAnswer,
    },
    async ({ body: { execution_ids } }) => {
      const advanced: object[] = []
      const failed: object[] = []
      for (const id of new Set(execution_ids)) {
        const execution_id = rawInteger(id)
        try {
          advanced.push({ execution_id, ...(await advance(core, id)) })
        } catch (error) {
          failed.push({ execution_id, error: toProblem(error).message })
        }
      }
      metrics?.others.advanced.inc(advanced.length)
      return { advanced, failed }
    },
  )
}

const importRoutes = (app: FastifyInstance, core: Core, metrics: Metrics | undefined): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/events/project',
      name: 'projectEvents',
      tag,
      access,
      summary: 'Store events from elsewhere',
      description:
        'Events that are known already are counted and left as they are. An execution first seen this way is listed like any other, but does not run here.',
      body: ProjectRequest,
      answer: ProjectAnswer,
      problems: ['bad_request'],
    },
    async ({ body: { events } }) => {
      if (events.length === 0) throw new ProblemError('bad_request', 'events must not be empty')
      const now = new Date().toISOString()
      const projected = await importEvents(
        core,
        events.map((event) => fromEnvelope(event, now)),
      )
      return { projected, duplicates: events.length - projected }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/events/materialize',
      name: 'materializeEvents',
      tag,
      access,
      summary: 'Store reports of workers without acting on them',
      body: MaterializeRequest,
      answer: MaterializeAnswer,
    },
    async ({ body: events }) => {
      const now = new Date().toISOString()
      const reports = events.map((event) => fromReport(check(EventRequest, event), core, now))
      const materialized = await importEvents(core, reports)
      metrics?.others.materialized.inc(materialized)
      return { materialized, duplicates: reports.length - materialized }
    },
  )
}

/** `events` is how many had to be folded. */
const advance = async (core: Core, id: string): Promise<{ version: number; events: number }> => {
  const database = core.shards.of(id)
  const loaded = await loadState(database, id, core.sealer)
  if (loaded) {
    await saveSnapshot(database, loaded.state, core.sealer)
    const { position } = loaded.state
    return { version: position, events: position - loaded.snapshotPosition }
  }
  const version = await refreshImported(database, id, standingOfImported)
  if (version === null) throw new ProblemError('not_found', `Execution not found: ${id}`)
  return { version, events: version }
}
