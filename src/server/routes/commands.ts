import type { FastifyInstance } from 'fastify'
import {
  ClaimAnswer,
  CommandAnswer,
  HeartbeatAnswer,
  HeartbeatListAnswer,
  LeaseAnswer,
  ReleaseAnswer,
} from '../../contract/answers-commands.ts'
import {
  ClaimRequest,
  HeartbeatListRequest,
  HeartbeatRequest,
  LeaseListRequest,
  LeaseRequest,
} from '../../contract/api.ts'
import type { LeasedCommand } from '../../contract/command.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { readCommand } from '../../store/commands.ts'
import { findFirst } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { goneSignal, pathId } from '../http.ts'
import { readIssued, toLeasedCommand } from '../leased-command.ts'
import type { Leased } from '../leases.ts'
import { route } from '../route.ts'

const tag = 'commands'
const access = 'worker'

export const commandRoutes = (app: FastifyInstance, { core, leases, closing }: ServerContext): void => {
  route(
    app,
    {
      method: 'POST',
      url: '/api/commands/lease',
      name: 'leaseCommands',
      tag,
      access,
      summary: 'Take work, waiting for it if there is none',
      description:
        'Every command comes with a lease, which ends unless it is kept by heartbeats. A caller that goes away while it waits gets nothing.',
      body: LeaseRequest,
      answer: LeaseAnswer,
    },
    async ({ reply, body: { worker_id, pool, capabilities, max, wait_ms } }) => {
      const signal = goneSignal(reply, closing)
      const wanted = { workerId: worker_id, pool, capabilities, max, waitMs: wait_ms }
      const commands = await leases.lease({ ...wanted, signal })
      if (signal.aborted && commands.length > 0) {
        // Nobody hears the answer: another worker may have them at once.
        await leases.release(commands)
        return { commands: [] }
      }
      return {
        commands: commands.map((command) => ({ ...claimAnswer(command), lease_seconds: core.leaseSeconds })),
      }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/commands/heartbeat',
      name: 'keepLeases',
      tag,
      access,
      summary: 'Keep several leases',
      description:
        'One status per lease, in the same order: `ok`, `cancelled` (stop working), or `lost` (somebody else has it). With `wait_ms` the leases are extended at once and, while all of them are `ok`, the answer waits for one of the commands to be cancelled; never longer than a quarter of a lease.',
      body: HeartbeatListRequest,
      answer: HeartbeatListAnswer,
    },
    async ({ reply, body: { worker_id, leases: held, wait_ms: waitMs } }) => {
      const wait = waitMs === 0 ? undefined : { waitMs, signal: goneSignal(reply, closing) }
      return { statuses: await leases.heartbeat(worker_id, held.map(toLeaseKey), wait) }
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/commands/release',
      name: 'releaseLeases',
      tag,
      access,
      summary: 'Give back work that was not begun',
      body: LeaseListRequest,
      answer: ReleaseAnswer,
      problems: ['not_found'],
    },
    async ({ body: { leases: held } }) => {
      await leases.release(held.map(toLeaseKey))
      return { status: 'ok' }
    },
  )

  route(
    app,
    {
      method: 'GET',
      url: '/api/commands/:event_id',
      name: 'getCommand',
      tag,
      access,
      summary: 'Read a command without taking it',
      answer: CommandAnswer,
      problems: ['not_found'],
    },
    async ({ request }) => {
      const eventId = pathId(request, 'event_id')
      const command = await findFirst(core.shards, async (database) => {
        const row = await readCommand(database, eventId)
        const issued = row && (await readIssued(core, database, row))
        return (
          issued &&
          toLeasedCommand(issued, {
            commandId: row.command_id,
            leaseToken: row.lease_token,
            attempt: Math.max(1, row.attempt),
          })
        )
      })
      if (!command) throw new ProblemError('not_found', `command.issued event not found: ${eventId}`)
      return commandAnswer(command)
    },
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/commands/:event_id/claim',
      name: 'claimCommand',
      tag,
      access,
      summary: 'Take this command',
      description: 'Claiming again by the same worker answers the same lease.',
      body: ClaimRequest,
      answer: ClaimAnswer,
      problems: ['not_found', 'conflict', 'already_terminal'],
    },
    async ({ request, body: { worker_id } }) =>
      claimAnswer(await leases.claim(pathId(request, 'event_id'), worker_id)),
  )

  route(
    app,
    {
      method: 'POST',
      url: '/api/commands/:event_id/heartbeat',
      name: 'keepLease',
      tag,
      access,
      summary: 'Keep one lease',
      body: HeartbeatRequest,
      answer: HeartbeatAnswer,
      problems: ['not_found'],
    },
    async ({ request, body: { worker_id, lease_token } }) => {
      const eventId = pathId(request, 'event_id')
      const executionId = await findFirst(
        core.shards,
        async (database) => (await readCommand(database, eventId))?.execution_id ?? null,
      )
      if (executionId === null)
        throw new ProblemError('not_found', `command.issued event not found: ${eventId}`)
      const [status = 'lost'] = await leases.heartbeat(worker_id, [
        { executionId, eventId, leaseToken: lease_token },
      ])
      return { status }
    },
  )
}

const toLeaseKey = (lease: { execution_id: string; event_id: string; lease_token: string }) => ({
  executionId: lease.execution_id,
  eventId: lease.event_id,
  leaseToken: lease.lease_token,
})

const commandAnswer = (command: LeasedCommand) => ({
  execution_id: rawInteger(command.executionId),
  node_id: command.step,
  node_name: command.step,
  action: command.toolKind,
  context: command.context,
  meta: command.meta,
})

const claimAnswer = (command: Leased) => ({
  status: 'ok',
  event_id: rawInteger(command.eventId),
  ...commandAnswer(command),
  command_id: command.commandId,
  catalog_id: command.catalogId,
  attempt: command.attempt,
  lease_token: command.leaseToken,
  lease_until: command.leaseUntil,
})
