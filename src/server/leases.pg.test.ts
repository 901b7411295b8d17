import { describe, expect, test } from 'vitest'
import type { LeasedCommand } from '../contract/command.ts'
import {
  eventTypes,
  expireLeases,
  historyProblems,
  readLog,
  stuckExecutions,
} from '../../test/support/history.ts'
import { aNote } from '../../test/support/inputs.ts'
import { onlyWoken } from '../../test/support/only-woken.ts'
import { chain, single } from '../../test/support/playbooks.ts'
import { createScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { ScriptedWorker } from '../../test/support/scripted-worker.ts'
import type { TestServer } from '../../test/support/server.ts'
import { useServers } from '../../test/support/servers.ts'
import { createMemoryDispatcher } from '../dispatch/memory.ts'
import { leaseCommands, readCommand } from '../store/commands.ts'
import type { Database } from '../store/database.ts'

const servers = useServers()

interface Stage {
  readonly server: TestServer
  readonly database: Database
  readonly id: string
  worker(name: string): ScriptedWorker
  /** What is wrong now; empty at every quiet point. */
  problems(): Promise<readonly string[]>
  /** Lets every lease run out and the reaper look once. */
  reap(): Promise<number>
}

const stage = async (playbook = single('tests/lease')): Promise<Stage> => {
  const server = await servers.start()
  await server.register(playbook)
  const id = await server.execute('tests/lease')
  const database = server.core.shards.of(id)
  return {
    server,
    database,
    id,
    worker: (name) => createScriptedWorker(server, name),
    problems: async () => [
      ...(await historyProblems(database, id)),
      ...(await stuckExecutions(server.databases)),
    ],
    reap: async () => {
      await expireLeases(server.databases)
      return server.reaper.runOnce()
    },
  }
}

const only = async (leased: Promise<readonly LeasedCommand[]>): Promise<LeasedCommand> => {
  const [command, ...more] = await leased
  if (!command || more.length > 0)
    throw new Error(`expected one command, got ${more.length + (command ? 1 : 0)}`)
  return command
}

describe('a lease', () => {
  test('is recorded before the worker gets the command', async () => {
    const { worker, database, id, problems } = await stage()
    const command = await only(worker('w1').lease())
    expect(command).toMatchObject({
      executionId: id,
      step: 'start',
      toolKind: 'python',
      attempt: 1,
      leaseToken: '1',
    })
    expect((await readLog(database, id)).at(-1)).toMatchObject({
      eventType: 'command.claimed',
      workerId: 'w1',
      meta: { attempt: 1, command_id: command.commandId },
    })
    expect(await worker('w2').lease()).toEqual([])
    expect(await problems()).toEqual([])
  })

  test('lasts as long as its holder sends heartbeats', async () => {
    const { worker, server } = await stage()
    const w1 = worker('w1')
    const command = await only(w1.lease())
    await expireLeases(server.databases)
    expect(await w1.heartbeat(command)).toBe('ok')
    expect(await server.reaper.runOnce()).toBe(0)
    expect(await worker('w2').heartbeat(command)).toBe('lost')
    expect(await w1.complete(command)).toBe('ok')
    expect(await w1.heartbeat(command)).toBe('lost')
  })

  test('of a cancelled execution tells its holder so', async () => {
    const { worker, server, id, problems } = await stage()
    const w1 = worker('w1')
    const command = await only(w1.lease())
    await server.post(`/api/executions/${id}/cancel`, {})
    expect(await w1.heartbeat(command)).toBe('cancelled')
    expect(await w1.complete(command)).toBe('ok')
    expect((await server.get(`/api/executions/${id}`)).body['status']).toBe('CANCELLED')
    expect(await problems()).toEqual([])
  })

  test('that is handed back costs no attempt and goes to the next worker', async () => {
    const { worker, problems } = await stage()
    for (const name of ['w1', 'w2', 'w3', 'w4', 'w5']) {
      const command = await only(worker(name).lease())
      expect(command.attempt).toBe(1)
      await worker(name).release(command)
      expect(await problems()).toEqual([])
      await worker(name).release(command)
    }
    const last = await only(worker('w6').lease())
    expect(last.leaseToken).toBe('6')
    expect(await worker('w6').complete(last)).toBe('ok')
    expect(await problems()).toEqual([])
  })
})

describe('a lease that ran out', () => {
  test('goes to another worker with a larger token; the old holder is refused', async () => {
    const { worker, database, id, server, reap, problems } = await stage()
    const lost = await only(worker('w1').lease())
    expect(await reap()).toBe(1)
    expect(await eventTypes(database, id)).toContain('command.released')
    expect(await problems()).toEqual([])

    const found = await only(worker('w2').lease())
    expect(found).toMatchObject({
      commandId: lost.commandId,
      eventId: lost.eventId,
      attempt: 2,
      meta: { attempt: 2 },
    })
    expect(BigInt(found.leaseToken)).toBeGreaterThan(BigInt(lost.leaseToken))

    expect(await worker('w1').complete(lost)).toBe('lost')
    const overHttp = await server.post('/api/events', {
      execution_id: id,
      step: 'start',
      event_type: 'command.completed',
      payload: { command_id: lost.commandId },
      lease_token: lost.leaseToken,
      worker_id: 'w1',
    })
    expect(overHttp).toMatchObject({ status: 409, body: { code: 'lease_lost', status: 409 } })
    expect(await worker('w2').complete(found, { winner: 'w2' })).toBe('ok')
    const log = await readLog(database, id)
    expect(log.at(-1)).toMatchObject({
      eventType: 'playbook.completed',
      result: { context: { data: { winner: 'w2' } } },
    })
    expect(await problems()).toEqual([])
  })

  test('after the last attempt fails the step, which ends the execution', async () => {
    const { worker, database, id, reap, problems } = await stage()
    for (const name of ['w1', 'w2', 'w3']) {
      await only(worker(name).lease())
      expect(await reap()).toBe(1)
      expect(await problems()).toEqual([])
    }
    expect(await worker('w4').lease()).toEqual([])
    const failed = (await readLog(database, id)).find((event) => event.eventType === 'command.failed')
    expect(failed).toMatchObject({
      error: 'Worker w3 stopped answering; given up after 3 attempts',
      result: { context: { error: { kind: 'worker_lost', code: 'LEASE_EXPIRED', retryable: true } } },
    })
    expect((await readLog(database, id)).at(-1)).toMatchObject({
      eventType: 'playbook.failed',
      error: "Step 'start' failed: Worker w3 stopped answering; given up after 3 attempts",
    })
  })

  test('before it was recorded is found by the reaper', async () => {
    const { worker, database, id, reap, problems } = await stage()
    // The server died between taking the row and recording the lease.
    await leaseCommands(database, { pool: 'shared', workerId: 'ghost', max: 10, leaseSeconds: 60 })
    expect(await worker('w1').lease()).toEqual([])
    expect(await reap()).toBe(1)
    expect(await problems()).toEqual([])
    const command = await only(worker('w1').lease())
    expect(command.attempt).toBe(1)
    expect(await worker('w1').complete(command)).toBe('ok')
    expect(await eventTypes(database, id)).toContain('playbook.completed')
  })

  test('and is recorded late does not lock the command for ever', async () => {
    const { server, worker, database, id, reap, problems } = await stage()
    const [row] = await leaseCommands(database, {
      pool: 'shared',
      workerId: 'slow',
      max: 1,
      leaseSeconds: 60,
    })
    if (!row) throw new Error('nothing to lease')
    await reap()
    // Only now does the slow server come to record its lease: the log believes it, the row does not.
    const { reply } = await server.core.tell(id, {
      type: 'claim',
      commandId: row.command_id,
      workerId: 'slow',
      leaseToken: row.lease_token,
    })
    expect(reply.ok).toBe(true)
    expect(await worker('w1').lease()).toEqual([])
    const command = await only(worker('w1').lease())
    expect(await worker('w1').complete(command)).toBe('ok')
    expect(await problems()).toEqual([])
  })

  test('is reaped once, however many reapers look', async () => {
    const { server, worker, database, id } = await stage()
    const others = await Promise.all([servers.start(), servers.start()])
    await only(worker('w1').lease())
    await expireLeases(server.databases)
    const ended = await Promise.all([server, ...others].map(({ reaper }) => reaper.runOnce()))
    expect(ended.reduce((sum, count) => sum + count, 0)).toBe(1)
    expect((await eventTypes(database, id)).filter((type) => type === 'command.released')).toHaveLength(1)
  })
})

describe('a claim by id', () => {
  test('gives the command, and the same lease again to the same worker without writing', async () => {
    const { server, database, id } = await stage()
    const { rows } = await database.query<{ event_id: string }>('select event_id from noetl.command')
    const eventId = rows[0]?.event_id ?? ''
    const first = await server.leases.claim(eventId, 'w1')
    const length = (await readLog(database, id)).length
    expect(await server.leases.claim(eventId, 'w1')).toEqual(first)
    expect((await readLog(database, id)).length).toBe(length)
    await expect(server.leases.claim(eventId, 'w2')).rejects.toMatchObject({
      code: 'conflict',
      message: 'Command already claimed by w1',
    })
    expect(Date.parse(first.leaseUntil ?? '') - Date.now()).toBeGreaterThan(1_700_000)
  })

  test('of a command that is over says why', async () => {
    const { server, worker, database, id } = await stage()
    const command = await only(worker('w1').lease())
    await worker('w1').complete(command)
    await expect(server.leases.claim(command.eventId, 'w1')).rejects.toMatchObject({
      code: 'already_terminal',
      message: 'Command already reached terminal state',
    })
    const other = await server.execute('tests/lease')
    await server.post(`/api/executions/${other}/cancel`, {})
    const { rows } = await database.query<{ event_id: string }>(
      'select event_id from noetl.command where execution_id = $1',
      [other],
    )
    await expect(server.leases.claim(rows[0]?.event_id ?? '', 'w1')).rejects.toMatchObject({
      code: 'already_terminal',
      message: 'Execution has been cancelled',
    })
    await expect(server.leases.claim('1', 'w1')).rejects.toMatchObject({ code: 'not_found' })
    expect(id).not.toBe(other)
  })
})

describe('a report without a claim', () => {
  test('claims the command, also when a lease was just taken on its row', async () => {
    const { server, database, id, problems } = await stage(chain('tests/lease', 2))
    const [row] = await leaseCommands(database, { pool: 'shared', workerId: 'w1', max: 1, leaseSeconds: 60 })
    if (!row) throw new Error('nothing to lease')
    const started = aNote({
      eventType: 'command.started',
      commandId: row.command_id,
      workerId: 'w2',
      context: { command_id: row.command_id },
    })
    expect((await server.core.tell(id, started)).reply.ok).toBe(true)
    // The row belongs to the reporter now: the one that came too late must leave it alone.
    const late = createScriptedWorker(server, 'w1')
    expect(
      (
        await server.core.tell(id, {
          type: 'claim',
          commandId: row.command_id,
          workerId: 'w1',
          leaseToken: row.lease_token,
        })
      ).reply,
    ).toMatchObject({ ok: false, problem: { code: 'conflict' } })
    expect(await late.lease()).toEqual([])
    expect(await readCommand(database, row.event_id)).toMatchObject({ status: 'CLAIMED', worker_id: 'w2' })
    expect(await problems()).toEqual([])
  })
})

describe('a waiting worker', () => {
  test('hears of new work at once', async () => {
    const server = await servers.start({ dispatcher: onlyWoken(createMemoryDispatcher()) })
    await server.register(single('tests/lease'))
    const waiting = server.leases.lease({
      workerId: 'w1',
      pool: 'shared',
      max: 1,
      waitMs: 3_600_000,
      signal: new AbortController().signal,
    })
    await server.execute('tests/lease')
    expect(await waiting).toHaveLength(1)
  })

  test('gets nothing when its time is over or it goes away', async () => {
    const server = await servers.start()
    const request = {
      workerId: 'w1',
      pool: 'shared',
      max: 1,
      waitMs: 30,
      signal: new AbortController().signal,
    }
    expect(await server.leases.lease(request)).toEqual([])
    const gone = new AbortController()
    const waiting = server.leases.lease({ ...request, waitMs: 60_000, signal: gone.signal })
    gone.abort()
    expect(await waiting).toEqual([])
  })

  test('finds work of another server although it hears nothing of it', async () => {
    const [here, there] = [await servers.start(), await servers.start()]
    await there.register(single('tests/lease'))
    const waiting = here.leases.lease({
      workerId: 'w1',
      pool: 'shared',
      max: 1,
      waitMs: 20_000,
      signal: new AbortController().signal,
    })
    await there.execute('tests/lease')
    expect(await waiting).toHaveLength(1)
  })
})
