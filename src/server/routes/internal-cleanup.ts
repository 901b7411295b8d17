/** Deletes what is old, when somebody asks for it. */
import type { FastifyInstance } from 'fastify'
import { PurgeAnswer } from '../../contract/answers-internal.ts'
import { PurgeRequest } from '../../contract/api-internal.ts'
import { deleteEndedCommands, deleteSilentRuntimes, dropOldPartitions } from '../../store/housekeeping.ts'
import { onEvery } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { route } from '../route.ts'

const DAY_MS = 86_400_000

export const cleanupRoutes = (app: FastifyInstance, { core, metrics }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/internal/cleanup/purge',
      name: 'purge',
      tag: 'internal',
      access: 'internal',
      summary: 'Delete ended commands, silent workers and old events',
      description:
        'A retention of 0 or less keeps everything of its kind. Events go by whole months, and a month stays while an execution of it runs.',
      body: PurgeRequest,
      answer: PurgeAnswer,
    },
    async ({ body: { command_retention_days, runtime_stale_minutes, event_retention_days } }) => {
      const { shards } = core
      const commands =
        command_retention_days <= 0
          ? 0
          : await onEvery(shards, (database) => deleteEndedCommands(database, command_retention_days))
      const runtimes =
        runtime_stale_minutes <= 0 ? 0 : await deleteSilentRuntimes(shards.cluster, runtime_stale_minutes)
      const dropped: { name: string; events: number }[] = []
      if (event_retention_days > 0)
        for (const database of shards.all)
          dropped.push(
            ...(await dropOldPartitions(database, new Date(Date.now() - event_retention_days * DAY_MS))),
          )
      const names = [...new Set(dropped.map(({ name }) => name))]
      core.log.info({ commands, runtimes, partitions: names }, 'purged')
      const purged = { command: commands, runtime: runtimes, event_partition: dropped.length }
      for (const [table, count] of Object.entries(purged)) metrics?.others.purged.inc({ table }, count)
      return {
        commands_purged: commands,
        runtime_purged: runtimes,
        events_purged: dropped.reduce((sum, { events }) => sum + events, 0),
        ...(names.length > 0 ? { event_partitions_dropped: names } : {}),
      }
    },
  )
}
