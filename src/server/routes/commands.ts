import type { FastifyInstance } from 'fastify'
import { ClaimRequest, HeartbeatRequest, LeaseListRequest, LeaseRequest } from '../../contract/api.ts'
import type { LeasedCommand } from '../../contract/command.ts'
import { ProblemError } from '../../contract/problem.ts'
import { rawInteger } from '../../lib/exact-json.ts'
import { readCommand } from '../../store/commands.ts'
import { findFirst } from '../../store/shards.ts'
import type { ServerContext } from '../app.ts'
import { check, goneSignal, pathId } from '../http.ts'
import { readIssued, toLeasedCommand } from '../leased-command.ts'
import type { Leased } from '../leases.ts'

export const commandRoutes = (app: FastifyInstance, { core, leases, closing }: ServerContext): void => {
  app.post('/api/commands/lease', async (request, reply) => {
    const { worker_id, pool, max, wait_ms } = check(LeaseRequest, request.body)
    const signal = goneSignal(reply, closing)
    const commands = await leases.lease({ workerId: worker_id, pool, max, waitMs: wait_ms, signal })
    if (signal.aborted && commands.length > 0) {
      // Nobody hears the answer: another worker may have them at once.
      await leases.release(commands)
      return { commands: [] }
    }
    return {
      commands: commands.map((command) => ({ ...claimAnswer(command), lease_seconds: core.leaseSeconds })),
    }
  })

  app.post('/api/commands/heartbeat', async (request) => {
    const { worker_id, leases: held } = check(LeaseListRequest, request.body)
    const statuses = await leases.heartbeat(worker_id, held.map(toLeaseKey))
    return { statuses }
  })

  app.post('/api/commands/release', async (request) => {
    const { leases: held } = check(LeaseListRequest, request.body)
    await leases.release(held.map(toLeaseKey))
    return { status: 'ok' }
  })

  app.get('/api/commands/:event_id', async (request) => {
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
  })

  app.post('/api/commands/:event_id/claim', async (request) => {
    const { worker_id } = check(ClaimRequest, request.body)
    return claimAnswer(await leases.claim(pathId(request, 'event_id'), worker_id))
  })

  app.post('/api/commands/:event_id/heartbeat', async (request) => {
    const eventId = pathId(request, 'event_id')
    const { worker_id, lease_token } = check(HeartbeatRequest, request.body)
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
  })
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
